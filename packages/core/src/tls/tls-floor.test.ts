import tls from 'node:tls'

import { afterEach, expect, test } from 'vitest'

import { tlsFloor } from './tls-floor.ts'

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
])('settings of %s need nothing', (_what, settings) => {
  expect(tlsFloor(settings, 'agent')).toBeUndefined()
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
  expect(() => tlsFloor(settings, 'agent')).toThrow(
    expect.objectContaining({
      code: 'INSECURE_TRANSPORT',
      message: `Cannot send call: \`agent\` has ${what}; allowed: TLSv1.2 or later (see docs/guide/troubleshoot.md#insecure_transport)`,
    }),
  )
})

test.each(['TLSv1', 'TLSv1.1'] as const)(
  'where the process allows %s, settings need a version',
  (version) => {
    tls.DEFAULT_MIN_VERSION = version
    expect(tlsFloor(undefined, 'agent')).toBe('TLSv1.2')
    expect(tlsFloor({ maxVersion: 'TLSv1.3' }, 'agent')).toBe('TLSv1.2')
    expect(tlsFloor({ minVersion: 'TLSv1.3' }, 'agent')).toBeUndefined()
    expect(tlsFloor(contextOf('TLSv1.2'), 'agent')).toBeUndefined()
  },
)

test('a process that asks for TLS 1.3 is left alone', () => {
  tls.DEFAULT_MIN_VERSION = 'TLSv1.3'
  expect(tlsFloor(undefined, 'agent')).toBeUndefined()
})
