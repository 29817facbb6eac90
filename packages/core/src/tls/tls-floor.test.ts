import tls from 'node:tls'

import { afterEach, expect, test } from 'vitest'

import { processMustKeepFloor, settingsMustKeepFloor } from './tls-floor.ts'

const atStart = tls.DEFAULT_MIN_VERSION

afterEach(() => {
  tls.DEFAULT_MIN_VERSION = atStart
})

const contextOf = (version: tls.SecureVersion): object => ({
  secureContext: tls.createSecureContext({ minVersion: version }),
})

test.each([
  ['nothing', undefined],
  ['no version', {}],
  ['TLS 1.2', { minVersion: 'TLSv1.2' }],
  ['TLS 1.3', { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }],
  ['the method of TLS 1.2', { secureProtocol: 'TLSv1_2_client_method' }],
  ['a context of TLS 1.2', contextOf('TLSv1.2')],
])('settings of %s pass, but in a process that allows TLS 1.0', (_what, settings) => {
  expect(() => settingsMustKeepFloor(settings, 'agent')).not.toThrow()
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  expect(() => settingsMustKeepFloor(settings, 'agent')).toThrow('this process allows TLS below 1.2')
})

test.each([
  [{ minVersion: 'TLSv1' }, "`minVersion: 'TLSv1'`"],
  [{ minVersion: 'TLSv1.1' }, "`minVersion: 'TLSv1.1'`"],
  [{ maxVersion: 'TLSv1.1' }, "`maxVersion: 'TLSv1.1'`"],
  [{ secureProtocol: 'TLS_method' }, "`secureProtocol: 'TLS_method'`"],
  [{ secureProtocol: 'TLSv1_method' }, "`secureProtocol: 'TLSv1_method'`"],
  [{ secureProtocol: 'TLSv1_1_client_method' }, "`secureProtocol: 'TLSv1_1_client_method'`"],
  [contextOf('TLSv1.1'), 'a `secureContext` for older versions'],
])('settings of %o are refused', (settings, what) => {
  expect(() => settingsMustKeepFloor(settings, 'agent')).toThrow(
    expect.objectContaining({
      code: 'INSECURE_TRANSPORT',
      message: expect.stringContaining(
        `Cannot send call: \`agent\` has ${what}; allowed: TLSv1.2 or later`,
      ) as string,
    }),
  )
})

test.each(['TLSv1', 'TLSv1.1'] as const)('a process that allows %s is refused, with the fix', (version) => {
  tls.DEFAULT_MIN_VERSION = version
  expect(() => processMustKeepFloor()).toThrow(
    expect.objectContaining({
      code: 'INSECURE_TRANSPORT',
      message: expect.stringMatching(
        `\`tls.DEFAULT_MIN_VERSION\` is '${version}'.*Start Node without \`--tls-min-v1.0\``,
      ) as string,
    }),
  )
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a process that asks for %s passes', (version) => {
  tls.DEFAULT_MIN_VERSION = version
  expect(() => processMustKeepFloor()).not.toThrow()
})
