import https, { Agent } from 'node:https'
import tls from 'node:tls'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { agentFloor, secureAgents } from './tls-agent.ts'

const atStart = { floor: tls.DEFAULT_MIN_VERSION, agent: https.globalAgent }
const url = 'https://api.example.com/'

beforeEach(() => {
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
})

afterEach(() => {
  tls.DEFAULT_MIN_VERSION = atStart.floor
  https.globalAgent = atStart.agent
})

test('an agent is made once, and is like the global one', () => {
  const agentFor = secureAgents('httpsAgent')
  const agent = agentFor(url, undefined) as Agent
  expect(agent).toBeInstanceOf(Agent)
  expect(agent.options).toEqual({ ...https.globalAgent.options, minVersion: 'TLSv1.2' })
  expect(agentFor(url, undefined)).toBe(agent)
})

test('none is made where the process keeps to TLS 1.2, and none for http:', () => {
  const agentFor = secureAgents('httpsAgent')
  expect(agentFor('http://localhost/', undefined)).toBeUndefined()
  expect(agentFor('http://localhost/', new Agent({ minVersion: 'TLSv1' }))).toBeUndefined()
  tls.DEFAULT_MIN_VERSION = 'TLSv1.2'
  expect(agentFor(url, undefined)).toBeUndefined()
})

test('a global agent of another class cannot be imitated', () => {
  https.globalAgent = new (class ProxyAgent extends Agent {})()
  expect(() => secureAgents('httpsAgent')(url, undefined)).toThrow('`https.globalAgent` leaves')
  https.globalAgent = new (class ProxyAgent extends Agent {})({ minVersion: 'TLSv1.2' })
  expect(secureAgents('httpsAgent')(url, undefined)).toBeUndefined()
})

test.each([false, {}, new Agent()])('an agent that names no version, such as %o, needs one', (agent) => {
  expect(agentFloor(agent, 'agent')).toBe('TLSv1.2')
})
