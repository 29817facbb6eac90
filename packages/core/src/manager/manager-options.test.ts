import { afterEach, expect, test, vi } from 'vitest'
import { createTokenManager, isTokenlaneError, type TokenlaneError, weblinkIssuer } from '../index.ts'

afterEach(() => vi.unstubAllGlobals())

const credentials = { clientId: 'client', clientSecret: 'secret' }
const general = { tokenEndpoint: 'https://auth.example.com/token', credentials }

function errorOf(options: object): TokenlaneError {
  try {
    createTokenManager(options as never)
  } catch (error) {
    if (isTokenlaneError(error)) return error
    throw error
  }
  throw new Error('not refused')
}

test('all wrong options are named at once, with what was given and what is allowed', () => {
  const error = errorOf({
    issuers: { general, weblink: { ...general, maxWait: -1 } },
    apis: [
      { baseUrl: 'api.example.com', issuer: 'general' },
      { baseUrl: 'https://api.example.com/', issuer: 'genral', resend: 'GET' },
    ],
    fetch: 7,
    observ: 1,
  })
  expect(error.code).toBe('INVALID_OPTIONS')
  expect(error.message.split('\n')).toEqual([
    'Cannot create token manager: 6 options are invalid:',
    '- `observ` is not an option (did you mean `observe`?)',
    '- `issuers.weblink.maxWait` is -1; allowed: a finite number of milliseconds, above 0',
    '- `apis[0].baseUrl` is not an absolute URL; allowed: an absolute https: URL without quotes, such as https://host/path/',
    '- `apis[1].issuer` is not a name from `issuers` (did you mean `general`?); allowed: one of general, weblink',
    "- `apis[1].resend` is a string; allowed: true, false or uppercase methods, such as ['GET', 'HEAD']",
    '- `fetch` is 7; allowed: a fetch function',
    expect.stringContaining('troubleshoot.md'),
  ])
  expect(error.failures).toHaveLength(6)
})

test('a wrong environment hides nothing else that is wrong', () => {
  const baseUrl = { testing: 'https://api.example.com/' }
  const error = errorOf({ environment: 7, issuers: { general }, apis: [{ baseUrl, issuer: 'genral' }] })
  expect(error.message).toContain('3 options are invalid:\n- `environment` is 7; allowed: a name')
  expect(error.message).toContain(
    '\n- `environment` is a number; allowed: testing (the environments of `apis[0].baseUrl`)',
  )
  expect(error.message).toContain('\n- `apis[0].issuer` is not a name from `issuers`')
})

test('one wrong option is the error itself', () => {
  const error = errorOf({ issuers: { general }, apis: [], environment: 7 })
  expect(error.message).toMatch(/^Cannot create token manager: `environment` is 7; allowed: a name/)
  expect(error.failures).toBeUndefined()
})

test.each([
  ['ratePolice', 'ratePolicy'],
  ['baseURL', 'baseUrl'],
  ['rateLimit', 'ratePolicy'],
  ['quota', 'ratePolicy.limits[0].quota'],
  ['max', 'ratePolicy.limits[0].quota'],
  ['retries', 'resend'],
  ['maxWait', 'ratePolicy.maxWait'],
  ['clientId', 'issuers.<name>.credentials.clientId'],
  ['tokenUrl', 'issuers.<name>.tokenEndpoint'],
  ['scope', 'issuers.<name>.scope'],
  ['logger', 'observe'],
])('an option called %s is named, with the one that was meant and no list', (name, meant) => {
  const api = { baseUrl: 'https://api.example.com/', issuer: 'general', [name]: 1 }
  expect(errorOf({ issuers: { general }, apis: [api] }).message).toContain(
    `\`apis[0].${name}\` is not an option (did you mean \`${meant}\`?) (see `,
  )
})

test.each([
  ['tokenUrl', 'tokenEndpoint'],
  ['token_url', 'tokenEndpoint'],
  ['scopes', 'scope'],
  ['clientId', 'credentials.clientId'],
  ['secretIssuedAt', 'credentials.secretIssuedAt'],
  ['audience', 'parameters.audience'],
  ['timeout', 'requestTimeout'],
  ['baseURL', 'apis[0].baseUrl'],
  ['retry', 'apis[0].resend'],
  ['cache', 'store'],
])('an option of an issuer called %s is named, with the one that was meant', (name, meant) => {
  expect(errorOf({ issuers: { general: { ...general, [name]: 1 } }, apis: [] }).message).toContain(
    `\`issuers.general.${name}\` is not an option (did you mean \`${meant}\`?)`,
  )
})

test.each([
  ['clientId', 'issuers.<name>.credentials.clientId'],
  ['tokenUrl', 'issuers.<name>.tokenEndpoint'],
  ['baseUrl', 'apis[0].baseUrl'],
  ['logger', 'observe'],
])('an option of the manager called %s is shown its place', (name, meant) => {
  expect(errorOf({ issuers: { general }, apis: [], [name]: 1 }).message).toContain(
    `\`${name}\` is not an option (did you mean \`${meant}\`?)`,
  )
})

test.each(['quota', 'window', 'max', 'interval', 'requestsPerSecond'])(
  '`%s` in a rate policy belongs to a limit',
  (name) => {
    const api = {
      baseUrl: 'https://api.example.com/',
      issuer: 'general',
      ratePolicy: { limits: [], [name]: 5 },
    }
    expect(errorOf({ issuers: { general }, apis: [api] }).message).toMatch(
      /`apis\[0\]\.ratePolicy\.\w+` is not an option \(did you mean `limits\[0\]\.(?:quota|window)`\?\)/,
    )
  },
)

test('a limit with the names and units of another library is told the right ones', () => {
  const ratePolicy = { limits: [{ limit: 5, window: '1s' }] }
  const { message } = errorOf({
    issuers: { general },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }],
  })
  expect(message).toContain('`apis[0].ratePolicy.limits[0].limit` is not an option (did you mean `quota`?)')
  expect(message).toContain(
    "`apis[0].ratePolicy.limits[0].window` is an unknown name; allowed: a number of milliseconds, or 'second' or 'minute'",
  )
})

test.each(['grant_type', 'grantType'])('`%s` is not an option, since there is only one grant', (name) => {
  expect(
    errorOf({ issuers: { general: { ...general, [name]: 'client_credentials' } }, apis: [] }).message,
  ).toContain(`\`issuers.general.${name}\` is not an option; allowed: client_credentials alone`)
})

test('a scope that is given to the weblink issuer is not dropped', () => {
  const options = { authUrl: 'https://auth.example.com', credentials }
  expect(weblinkIssuer(options).scope).toBe('WebLinkAPI')
  expect(weblinkIssuer({ ...options, scope: 'other' } as never).scope).toBe('other')
})

test('an `authUrl` of a plain issuer is told what it belongs to', () => {
  const { tokenEndpoint: authUrl, ...others } = general
  expect(errorOf({ issuers: { general: { ...others, authUrl } }, apis: [] }).message).toContain(
    '`issuers.general.authUrl` is not an option; allowed: `tokenEndpoint`, `authUrl` with `tokenPath`, or generalIssuer(',
  )
})

test.each([[], [general], {}, 'general'])(
  'with %j as issuers, no API is said to name a wrong one',
  (issuers) => {
    const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general' }]
    expect(errorOf({ issuers, apis }).message).not.toContain('apis[0]')
  },
)

test('a name that is unknown is said to be, and none is quoted', () => {
  const ratePolicy = { limits: [], accounting: 'lax' }
  const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }]
  expect(errorOf({ issuers: { general }, apis }).message).toContain(
    "`apis[0].ratePolicy.accounting` is an unknown name; allowed: 'strict' or 'learned'",
  )
})

test.each(['maxWait', 'requestTimeout'])('a `%s` of an issuer in seconds is refused', (name) => {
  expect(errorOf({ issuers: { general: { ...general, [name]: 15 } }, apis: [] }).message).toContain(
    `\`issuers.general.${name}\` is 15; allowed: milliseconds (did you mean 15000, which is 15 s?)`,
  )
})

test('scopes in an array are to be one text', () => {
  expect(errorOf({ issuers: { general: { ...general, scope: ['a', 'b'] } }, apis: [] }).message).toContain(
    '`issuers.general.scope` is an array; allowed: a non-empty string, scopes separated by spaces',
  )
})

test('the list of options comes where nothing was meant', () => {
  expect(errorOf({ issuers: { general }, apis: [], xylophone: 1 }).message).toContain(
    '`xylophone` is not an option; allowed: environment, issuers, apis',
  )
})

test('the stack of an error about options begins where the manager was created', () => {
  const [, first] = (errorOf({ issuers: { general } }).stack as string)
    .split('\n')
    .filter((line) => /^ +at /.test(line))
  expect(
    (errorOf({ issuers: {} }).stack as string).split('\n').find((line) => /^ +at /.test(line)),
  ).toContain('errorOf')
  expect(first).not.toContain('createTokenManager')
})

test.each([
  'Secret-that-nobody-may-see',
  'a1b2c3d4e5f6',
  'sk_live_abcdefgh',
  'x'.repeat(21),
  'Hunter',
  'dGhpcyBJcyBBIFNlY',
  'correcthorseBatterystapleAgainst',
])('an option whose name may be a secret, as %s, is not shown', (secret) => {
  const api = { baseUrl: 'https://api.example.com/', issuer: 'general', [secret]: 1 }
  for (const options of [
    { issuers: { general }, apis: [api] },
    { issuers: { general }, apis: [], [secret]: 1 },
    { issuers: { general: { ...general, [secret]: 1 } }, apis: [] },
  ]) {
    const { message } = errorOf(options)
    expect(message).not.toContain(secret)
    expect(message).toContain('(not shown)` is not an option; allowed: ')
  }
})

test('in an edge runtime a rate policy is refused at start, with a shared limiter too', () => {
  vi.stubGlobal('EdgeRuntime', 'edge')
  const ratePolicy = { limits: [{ quota: 25, window: 1_000 }] }
  const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }]
  const limiter = (): never => {
    throw new Error('not to be made')
  }
  for (const options of [{ apis }, { apis, limiter }]) {
    const error = errorOf({ issuers: { general }, ...options })
    expect(error.code).toBe('RUNTIME_UNSUPPORTED')
    expect(error.message).toMatch(/^Cannot create token manager: `apis\[0\].ratePolicy` is set, but /)
  }
  expect(() => createTokenManager({ issuers: { general }, apis: [] })).not.toThrow()
})

test('a window that was given in seconds is asked about, and a short one is taken', () => {
  const apis = (quota: number, window: number): object => {
    const ratePolicy = { limits: [{ quota, window }] }
    return { issuers: { general }, apis: [{ baseUrl: 'https://a.example/', issuer: 'general', ratePolicy }] }
  }
  expect(errorOf(apis(25, 1)).message).toContain(
    '`apis[0].ratePolicy.limits[0].window` is 1; allowed: 10 ms or more, with at most one call per ms ' +
      '(did you mean 1000, which is 1 s?)',
  )
  expect(errorOf(apis(61, 60)).message).toContain('(did you mean 60000, which is 60 s?)')
  for (const [quota, window] of [
    [60, 60],
    [1, 10],
    [5_000, 1_000],
  ] as const)
    expect(() => createTokenManager(apis(quota, window) as never)).not.toThrow()
})
