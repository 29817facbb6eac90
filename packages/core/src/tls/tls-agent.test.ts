import https, { Agent } from 'node:https'
import tls from 'node:tls'

import { afterEach, expect, test } from 'vitest'

import { agentMustKeepFloor } from './tls-agent.ts'

const atStart = { floor: tls.DEFAULT_MIN_VERSION, agent: https.globalAgent }
const url = 'https://api.example.com/'
const lax = new Agent({ minVersion: 'TLSv1' })

afterEach(() => {
  tls.DEFAULT_MIN_VERSION = atStart.floor
  https.globalAgent = atStart.agent
})

test('an agent that allows TLS 1.0 is refused by its option, given or global', () => {
  expect(() => agentMustKeepFloor(url, lax, 'httpsAgent')).toThrow("`httpsAgent` has `minVersion: 'TLSv1'`")
  https.globalAgent = lax
  expect(() => agentMustKeepFloor(url, undefined, 'httpsAgent')).toThrow(
    "`https.globalAgent` has `minVersion: 'TLSv1'`",
  )
})

test.each([undefined, null, false, {}, new Agent(), new Agent({ minVersion: 'TLSv1.3' })])(
  'the agent %o passes, but in a process that allows TLS 1.1',
  (agent) => {
    expect(() => agentMustKeepFloor(url, agent, 'agent')).not.toThrow()
    tls.DEFAULT_MIN_VERSION = 'TLSv1.1'
    expect(() => agentMustKeepFloor(url, agent, 'agent')).toThrow('this process allows TLS below 1.2')
  },
)

test('http: has no TLS to look at', () => {
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  expect(() => agentMustKeepFloor('http://localhost/', lax, 'agent')).not.toThrow()
})
