import https, { Agent } from 'node:https'
import tls from 'node:tls'

import { afterEach, expect, test } from 'vitest'

import { agentSettings, mustKeepFloor } from './tls-floor.ts'

const atStart = { floor: tls.DEFAULT_MIN_VERSION, agent: https.globalAgent }
const url = 'https://api.example.com/'

afterEach(() => {
  tls.DEFAULT_MIN_VERSION = atStart.floor
  https.globalAgent = atStart.agent
})

test.each([
  ['nothing', undefined],
  ['no object', false],
  ['no version', {}],
  ['TLS 1.2', { minVersion: 'TLSv1.2' }],
  ['TLS 1.3', { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }],
  ['the method of TLS 1.2', { secureProtocol: 'TLSv1_2_client_method' }],
])('settings of %s pass, but in a process that allows TLS 1.0', (_what, settings) => {
  expect(() => mustKeepFloor(url, { https: settings })).not.toThrow()
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  expect(() => mustKeepFloor(url, { https: settings })).toThrow('this process allows TLS below 1.2')
})

test.each([
  [{ minVersion: 'TLSv1' }, "`minVersion: 'TLSv1'`"],
  [{ minVersion: 'TLSv1.1' }, "`minVersion: 'TLSv1.1'`"],
  [{ maxVersion: 'TLSv1.1' }, "`maxVersion: 'TLSv1.1'`"],
  [{ secureProtocol: 'TLS_method' }, "`secureProtocol: 'TLS_method'`"],
  [{ secureProtocol: 'TLSv1_method' }, "`secureProtocol: 'TLSv1_method'`"],
  [{ secureProtocol: 'TLSv1_1_client_method' }, "`secureProtocol: 'TLSv1_1_client_method'`"],
])('settings of %o are refused by their option', (settings, what) => {
  expect(() => mustKeepFloor(url, { first: {}, https: settings })).toThrow(
    expect.objectContaining({
      code: 'INSECURE_TRANSPORT',
      message: expect.stringContaining(
        `Cannot send call: \`https\` has ${what}; allowed: TLSv1.2 or later`,
      ) as string,
    }),
  )
})

test('an agent that allows TLS 1.0 is refused by its option, given or global', () => {
  const lax = new Agent({ minVersion: 'TLSv1' })
  const refusal = (agent: unknown) => () => mustKeepFloor(url, agentSettings(agent, 'httpsAgent'))
  expect(refusal(lax)).toThrow("`httpsAgent` has `minVersion: 'TLSv1'`")
  expect(refusal(undefined)).not.toThrow()
  https.globalAgent = lax
  expect(refusal(undefined)).toThrow("`https.globalAgent` has `minVersion: 'TLSv1'`")
  for (const agent of [false, {}, new Agent(), new Agent({ minVersion: 'TLSv1.3' })])
    expect(refusal(agent)).not.toThrow()
})

test.each(['TLSv1', 'TLSv1.1'] as const)('a process that allows %s is refused, with the fix', (version) => {
  tls.DEFAULT_MIN_VERSION = version
  expect(() => mustKeepFloor(url)).toThrow(
    expect.objectContaining({
      code: 'INSECURE_TRANSPORT',
      message: expect.stringMatching(
        `\`tls.DEFAULT_MIN_VERSION\` is '${version}'.*start Node without \`--tls-min-v1.0\``,
      ) as string,
    }),
  )
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a process that asks for %s passes', (version) => {
  tls.DEFAULT_MIN_VERSION = version
  expect(() => mustKeepFloor(url)).not.toThrow()
})

test('http: has no TLS to look at', () => {
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  expect(() => mustKeepFloor('http://localhost/', { agent: { minVersion: 'TLSv1' } })).not.toThrow()
})
