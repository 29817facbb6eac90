import { expect, test } from 'vitest'

import { checkOptions, type SandboxOptions } from './sandbox-options.ts'

test('every option has a default', () => {
  expect(checkOptions({})).toEqual({
    tokenLifetime: 3_600_000,
    records: 5_000,
    ratePolicies: {},
    issuers: {},
    delays: undefined,
    seed: undefined,
    control: false,
    controlToken: undefined,
    port: undefined,
    caFile: undefined,
    journalSize: 10_000,
    place: { address: '127.0.0.1', name: '127.0.0.1', names: ['localhost', '127.0.0.1', '::1'] },
  })
})

test('no option is read that other code has put on every object', () => {
  const usual = checkOptions({
    ratePolicies: { weblink: { limits: [{ quota: 1, window: 1 }] } },
    issuers: { general: {} },
  })
  const prototype = Object.prototype as unknown as Record<string, unknown>
  const names = [...Object.keys(usual), 'host', 'hostname', 'general', 'weblink', 'retryAfter', 'metadata']
  for (const name of names)
    for (const value of [7, true, 'hostile']) {
      prototype[name] = value
      let seen: unknown
      try {
        seen = checkOptions({
          ratePolicies: { weblink: { limits: [{ quota: 1, window: 1 }] } },
          issuers: { general: {} },
        })
      } catch (error) {
        seen = error
      } finally {
        delete prototype[name]
      }
      expect(seen, name).toEqual(usual)
    }
})

test('what is allowed comes through', () => {
  const options: SandboxOptions = {
    tokenLifetime: 1_500.5,
    records: 0,
    ratePolicies: { weblink: { limits: [{ quota: 25, window: 1_000 }], retryAfter: false } },
    issuers: { general: { metadata: true, clientAuthentication: 'private_key_jwt' } },
    delays: { min: 5, max: 5 },
    seed: 7,
    control: true,
    controlToken: 'sixteen-letters-',
    port: 65_531,
    caFile: 'ca.pem',
    journalSize: 1,
  }
  const names = ['localhost', '127.0.0.1', '::1', 'sandbox', '10.1.2.3']
  expect(checkOptions({ ...options, host: '10.1.2.3', hostname: 'sandbox' })).toEqual({
    ...options,
    place: { address: '10.1.2.3', name: 'sandbox', names },
  })
})

const limits = (limit: unknown): unknown => ({ ratePolicies: { weblink: { limits: [limit] } } })

test.each<[unknown, string]>([
  [
    null,
    '"options" must be an object with no keys except tokenLifetime, records, ratePolicies, issuers, delays, seed, control, controlToken, port, caFile, host, hostname, journalSize, not null',
  ],
  [{ tokenLifeTime: 1 }, '"options" must be an object with no keys except tokenLifetime, records'],
  [{ tokenLifetime: 0 }, '"tokenLifetime" must be a number from 1 to 31536000000, not 0'],
  [
    { tokenLifetime: Number.NaN },
    '"tokenLifetime" must be a number from 1 to 31536000000, or a time such as 500ms, 20s, 5m or 1h, not NaN',
  ],
  [
    { tokenLifetime: '3600' },
    '"tokenLifetime" must be a number from 1 to 31536000000, or a time such as 500ms, 20s, 5m or 1h, not \'3600\'',
  ],
  [{ records: 1.5 }, '"records" must be a whole number from 0 to 9999999, not 1.5'],
  [{ records: -1 }, '"records" must be a whole number from 0 to 9999999, not -1'],
  [{ ratePolicies: { other: {} } }, '"ratePolicies" must be an object with no keys except general, weblink'],
  [{ ratePolicies: { general: {} } }, '"ratePolicies.general.limits" must be an array, not undefined'],
  // it would allow any rate, which `null` is for
  [
    { ratePolicies: { general: { limits: [] } } },
    '"ratePolicies.general.limits" must be an array of one or more limits, not []',
  ],
  [limits({ quota: 0, window: 1 }), '"ratePolicies.weblink.limits[0].quota" must be a whole number from 1'],
  [limits({ quota: 1, window: 0 }), '"ratePolicies.weblink.limits[0].window" must be a number from 1'],
  [limits({ quota: 1 }), '"ratePolicies.weblink.limits[0].window" must be a number from 1'],
  [
    { ratePolicies: { general: { limits: [], retryAfter: 1 } } },
    "\"ratePolicies.general.retryAfter\" must be true or false, 'seconds' or 'date', not 1",
  ],
  [
    { ratePolicies: { general: { limits: [], headers: ['x-rate'] } } },
    "\"ratePolicies.general.headers[0]\" must be 'ratelimit' or 'ratelimit-limit' or 'x-ratelimit' or",
  ],
  [{ port: 65_532 }, '"port" must be a whole number from 1 to 65531, not 65532'],
  [{ seed: 2 ** 32 }, '"seed" must be a whole number from 0 to 4294967295, not 4294967296'],
  [{ controlToken: 'fifteen-letters' }, '"controlToken" must be a string of 16 characters or more'],
  [{ delays: 5 }, '"delays" must be an object with no keys except min, max, not 5'],
  [{ delays: { min: -1, max: 1 } }, '"delays.min" must be a number from 0'],
  [{ delays: { min: 10, max: 5 } }, '"delays.max" must be a number from 10 to 2147483647, not 5'],
])('%j is refused', (options, message) => {
  expect(() => checkOptions(options as SandboxOptions)).toThrow(TypeError)
  expect(() => checkOptions(options as SandboxOptions)).toThrow(message)
})

test('everything that is wrong is said at once', () => {
  const wrong = { records: -1, tokenLifetime: 0, delays: { min: 2 } } as unknown as SandboxOptions
  expect(() => checkOptions(wrong)).toThrow(
    [
      '"tokenLifetime" must be a number from 1 to 31536000000, not 0',
      '"records" must be a whole number from 0 to 9999999, not -1',
      '"delays.max" must be a number from 0 to 2147483647, or a time such as 500ms, 20s, 5m or 1h, not undefined',
    ].join('\n'),
  )
})
