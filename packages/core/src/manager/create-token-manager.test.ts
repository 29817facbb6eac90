import { runInNewContext } from 'node:vm'
import { afterEach, expect, test, vi } from 'vitest'
import { client, fakeService, refusal, unavailable } from '../../test/fake-issuer.ts'
import { createTokenManager, generalIssuer, isTokenlaneError, weblinkIssuer } from '../index.ts'
import type { Api, ApiOptions, IssuerOptions, TokenManager, TokenManagerOptions } from '../index.ts'

const authUrl = 'https://auth.example.com'
const general = generalIssuer({ authUrl, credentials: client })
const weblink = weblinkIssuer({ authUrl: 'https://weblink-auth.example.com', credentials: client })
const api = { baseUrl: 'https://api.example.com/', issuer: 'general' }

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** The error that these options are refused with, as `code message`. */
function refused(options: unknown): string {
  try {
    createTokenManager(options as TokenManagerOptions)
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    if (error.message.includes('secret-1')) throw new Error('a secret in a message', { cause: error })
    return `${error.code} ${error.message}`
  }
  return 'accepted'
}

const withIssuer = (issuer: unknown): unknown => ({ issuers: { general: issuer }, apis: [] })
const withApis = (...apis: unknown[]): unknown => ({ issuers: { general, weblink }, apis })
const withCredentials = (credentials: unknown): unknown =>
  withIssuer(generalIssuer({ authUrl, credentials: credentials as typeof client }))

test.each<[string, unknown, string, string]>([
  ['no options', undefined, 'options', 'is missing'],
  [
    'an option that does not exist',
    { issuers: { general }, apis: [], xylophone: 3 },
    'xylophone',
    'issuers, apis',
  ],
  ['no issuers', { apis: [] }, 'issuers', 'is missing'],
  ['issuers without one', { issuers: {}, apis: [] }, 'issuers', 'is empty'],
  ['no apis', { issuers: { general } }, 'apis', 'is missing'],
  ['an issuer that is not an object', withIssuer('https://auth.example.com'), 'issuers.general', 'a string'],
  [
    'an issuer without a URL',
    withIssuer({ credentials: client }),
    'issuers.general.tokenEndpoint',
    'is missing',
  ],
  [
    'an issuer option that does not exist',
    withIssuer({ ...general, scopes: 'a' }),
    'issuers.general.scopes',
    'scope',
  ],
  [
    'an auth URL that is relative',
    withIssuer({ ...general, authUrl: '/auth' }),
    'issuers.general.authUrl',
    'not an absolute URL',
  ],
  [
    'an auth URL without a scheme',
    withIssuer({ ...general, authUrl: 'auth.example.com' }),
    'issuers.general.authUrl',
    'https://',
  ],
  [
    'an auth URL with a port that is too high',
    withIssuer({ ...general, authUrl: 'https://auth.example.com:84433/' }),
    'issuers.general.authUrl',
    'not an absolute URL; allowed: an absolute https: URL without quotes, such as https://host/path/',
  ],
  [
    'an auth URL with a placeholder for its port',
    withIssuer({ ...general, authUrl: 'https://[::1]:<port>' }),
    'issuers.general.authUrl',
    'not an absolute URL',
  ],
  ...[
    'https://undefined/',
    'https://auth.undefined:8443/',
    'https://auth.example.com/undefined/a',
    'https://auth.example.com/null',
    'https://*.example.com/',
    'https://auth.example.com/*',
    'https://auth.example.com/{tenant}/',
    'https://auth.example.com/a-${TENANT}',
  ].map((url): [string, unknown, string, string] => [
    `${url}, whose part was never set`,
    withApis({ ...api, baseUrl: url }),
    'apis[0].baseUrl',
    'a URL with a placeholder; allowed: an absolute https: URL',
  ]),
  [
    'an ftp: auth URL',
    withIssuer({ ...general, authUrl: 'ftp://auth.example.com' }),
    'issuers.general.authUrl',
    'https:',
  ],
  [
    'an auth URL with credentials',
    withIssuer({ ...general, authUrl: 'https://a:secret-1@auth.example.com' }),
    'issuers.general.authUrl',
    'a URL with a user name, query or fragment',
  ],
  [
    'a base URL with an empty query, which would be another one',
    withApis(api, { ...api, baseUrl: `${api.baseUrl}?` }),
    'apis[1].baseUrl',
    'scheme, host and path only',
  ],
  [
    'a base URL with an empty fragment',
    withApis({ ...api, baseUrl: `${api.baseUrl}#` }),
    'apis[0].baseUrl',
    'scheme, host and path only',
  ],
  [
    'an auth URL with a query',
    withIssuer({ ...general, authUrl: `${authUrl}?a=secret-1` }),
    'issuers.general.authUrl',
    'scheme, host and path',
  ],
  [
    'the general token path in the auth URL',
    withIssuer({ ...general, authUrl: `${authUrl}/public/security/v1/token` }),
    'issuers.general.authUrl',
    '/public/security/v1/token',
  ],
  [
    'a part of it',
    withIssuer({ ...general, authUrl: `${authUrl}/public/security/` }),
    'issuers.general.authUrl',
    'a URL without',
  ],
  [
    'the weblink token path in the auth URL',
    withIssuer({ ...weblink, authUrl: `${authUrl}/IdentityServer/connect/token/` }),
    'issuers.general.authUrl',
    '/IdentityServer/connect/token',
  ],
  ['no credentials', withCredentials(undefined), 'issuers.general.credentials', 'is missing'],
  [
    'no client id',
    withCredentials({ clientSecret: 'secret-1' }),
    'issuers.general.credentials.clientId',
    'is missing',
  ],
  [
    'an empty client id',
    withCredentials({ ...client, clientId: '' }),
    'issuers.general.credentials.clientId',
    'is empty',
  ],
  [
    'no client secret',
    withCredentials({ clientId: 'a' }),
    'issuers.general.credentials.clientSecret',
    'is missing',
  ],
  [
    'an empty client secret',
    withCredentials({ ...client, clientSecret: '' }),
    'issuers.general.credentials.clientSecret',
    'is empty',
  ],
  [
    'a secret with a line break at its end',
    withCredentials({ ...client, clientSecret: 'secret-1\n' }),
    'issuers.general.credentials.clientSecret',
    'white space',
  ],
  [
    'a second secret that is empty',
    withCredentials([client, { ...client, clientSecret: '' }]),
    'issuers.general.credentials[1].clientSecret',
    'is empty',
  ],
  [
    'a promise of credentials',
    withCredentials(Promise.resolve()),
    'issuers.general.credentials',
    'a promise',
  ],
  ['an empty list of credentials', withCredentials([]), 'issuers.general.credentials', 'an empty array'],
  [
    'a wrong date',
    withCredentials({ ...client, secretIssuedAt: '2026-01-01' }),
    'issuers.general.credentials.secretIssuedAt',
    'a valid Date',
  ],
  ['a negative number', withIssuer({ ...general, renewBefore: -1 }), 'issuers.general.renewBefore', 'is -1'],
  ['NaN', withIssuer({ ...general, requestTimeout: Number.NaN }), 'issuers.general.requestTimeout', 'is NaN'],
  ['a wait of 0', withIssuer({ ...general, maxWait: 0 }), 'issuers.general.maxWait', 'above 0'],
  ['a number as text', withIssuer({ ...general, maxWait: '5' }), 'issuers.general.maxWait', 'a string'],
  [
    'a flag as text',
    withIssuer({ ...general, allowInsecureLoopback: 'yes' }),
    'issuers.general.allowInsecureLoopback',
    'true or false',
  ],
  [
    'a secret lifetime of 0',
    withIssuer({ ...general, secretLifetime: 0 }),
    'issuers.general.secretLifetime',
    'a finite number of days, above 0',
  ],
  [
    'a notice after the secret has expired',
    withIssuer({ ...general, notices: [10, -5] }),
    'issuers.general.notices[1]',
    'a finite number of days, above 0',
  ],
  [
    'an empty scope',
    withIssuer({ tokenEndpoint: authUrl, scope: '', credentials: client }),
    'issuers.general.scope',
    'is empty',
  ],
  [
    'one origin for both issuers',
    { issuers: { general, weblink: { ...weblink, authUrl: 'https://AUTH.example.com:443/wl' } }, apis: [] },
    'issuers.weblink.authUrl',
    'issuers.general.authUrl',
  ],
  [
    'an API of an unknown issuer',
    withApis({ ...api, issuer: 'generel' }),
    'apis[0].issuer',
    'general, weblink',
  ],
  ['an API without an issuer', withApis({ baseUrl: api.baseUrl }), 'apis[0].issuer', 'is missing'],
  ['an API without a base URL', withApis({ issuer: 'general' }), 'apis[0].baseUrl', 'is missing'],
  [
    'a URL object',
    withApis({ ...api, baseUrl: new URL(api.baseUrl) }),
    'apis[0].baseUrl',
    'is not an absolute URL',
  ],
  [
    'an API option that does not exist',
    withApis({ ...api, xylophone: 'x' }),
    'apis[0].xylophone',
    'baseUrl, issuer',
  ],
  [
    'a base URL with credentials',
    withApis({ ...api, baseUrl: 'https://a:b@api.example.com' }),
    'apis[0].baseUrl',
    'a URL with a user name, query or fragment',
  ],
  [
    'the same base URL twice',
    withApis(api, { ...api, issuer: 'weblink' }),
    'apis[1].baseUrl',
    'apis[0].baseUrl',
  ],
  [
    'the same base URL in another spelling',
    withApis(
      { ...api, baseUrl: 'https://api.example.com/v1' },
      { ...api, baseUrl: 'https://API.example.com:443/v1/' },
    ),
    'apis[1].baseUrl',
    'apis[0].baseUrl',
  ],
  [
    'an observer that is not a function',
    { issuers: { general }, apis: [], observe: 'log' },
    'observe',
    'a function',
  ],
  [
    'a fetch that is not a function',
    { issuers: { general }, apis: [], fetch: {} },
    'fetch',
    'a fetch function',
  ],
  [
    'URLs by environment without one',
    withIssuer({ ...general, authUrl: { testing: authUrl } }),
    'environment',
    'testing',
  ],
  [
    'an environment without a URL',
    { environment: 'staging', issuers: { general: { ...general, authUrl: { testing: authUrl } } }, apis: [] },
    'issuers.general.authUrl',
    'testing',
  ],
  [
    'an environment that is not a name',
    { environment: 1, issuers: { general }, apis: [] },
    'environment',
    'a name',
  ],
  [
    'one origin for two environments',
    {
      environment: 'testing',
      issuers: { general: { ...general, authUrl: { testing: authUrl, production: authUrl } } },
      apis: [],
    },
    'issuers.general.authUrl.production',
    'issuers.general.authUrl.testing',
  ],
])('refuses %s, naming the option and what is allowed', (_what, options, path, allowed) => {
  const message = refused(options)
  expect(message).toMatch(/^INVALID_OPTIONS Cannot create token manager: /)
  expect(message).toContain(`\`${path}\``)
  expect(message).toContain(allowed)
})

test.each<[string, unknown, string]>([
  ['an auth URL', withIssuer({ ...general, authUrl: 'http://auth.example.com' }), 'issuers.general.authUrl'],
  ['a base URL', withApis({ ...api, baseUrl: 'http://api.example.com' }), 'apis[0].baseUrl'],
  [
    'a loopback URL without leave',
    withIssuer({ ...general, authUrl: 'http://localhost:8080' }),
    'allowInsecureLoopback',
  ],
  [
    'a host that only looks like loopback',
    withIssuer({ ...general, authUrl: 'http://127.0.0.1.example.com', allowInsecureLoopback: true }),
    'issuers.general.authUrl',
  ],
])('refuses http: in %s', (_what, options, path) => {
  expect(refused(options)).toMatch(/^INSECURE_TRANSPORT /)
  expect(refused(options)).toContain(path)
})

test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:80', 'http://auth.localhost'])(
  'takes %s where loopback may be insecure',
  (url) => {
    expect(refused(withIssuer({ ...general, authUrl: url, allowInsecureLoopback: true }))).toBe('accepted')
  },
)

test.each(['keycloak', 'host.docker.internal', '172.17.0.2', '10.1.2.3', '[fd00::1]', 'issuer.test'])(
  'takes http: to %s where the options name that host, and only there',
  (host) => {
    const containers = (allowInsecureHosts: unknown): unknown => ({
      issuers: { general: { ...general, authUrl: `http://${host}:8080`, allowInsecureHosts } },
      apis: [{ ...api, baseUrl: `http://${host}:9090/` }],
    })
    expect(refused(containers([host]))).toBe('accepted')
    for (const other of [undefined, [], ['other'], 'keycloak'])
      expect(refused(containers(other))).toContain(
        `or in a test set \`allowInsecureHosts: ['${host}']\` on its issuer`,
      )
  },
)

test.each([
  'api.example.com',
  '*.internal',
  '*',
  'keycloak:8080',
  'http://keycloak',
  'Keycloak',
  '8.8.8.8',
  '172.32.0.1',
  '[2001:db8::1]',
  '',
])('never lets the options allow http: to %s', (host) => {
  const message = refused(withIssuer({ ...general, allowInsecureHosts: [host] }))
  expect(message).toMatch(
    /`issuers\.general\.allowInsecureHosts\[0\]` is (?:empty|not the name of a private host); allowed: a host without a port, such as keycloak/,
  )
})

test('says nothing of a way for http: to a host in the internet', () => {
  expect(refused(withIssuer({ ...general, authUrl: 'http://auth.example.com' }))).toMatch(
    /unsafe for secrets and tokens; use https: \(see /,
  )
})

test('refuses to start in a browser page', () => {
  vi.stubGlobal('window', {})
  vi.stubGlobal('document', {})
  expect(refused({ issuers: { general }, apis: [] })).toMatch(/^CLIENT_SIDE_FORBIDDEN /)
})

test('picks the URLs of its environment', async () => {
  const { tokens, issuer } = fakeService(
    {},
    {
      environment: 'production',
      issuers: {
        general: generalIssuer({
          authUrl: { testing: 'https://auth.test.example.com', production: 'https://auth.example.com/sso/' },
          credentials: client,
        }),
      },
      apis: [
        {
          baseUrl: { testing: 'https://api.test.example.com/', production: 'https://api.example.com/' },
          issuer: 'general',
        },
      ],
    },
  )
  await tokens.getToken('general')
  expect(issuer.urls).toEqual(['https://auth.example.com/sso/public/security/v1/token'])
  expect(tokens.route('https://api.example.com/x')?.baseUrl).toBe('https://api.example.com/')
  expect(tokens.route('https://api.test.example.com/x')).toBeUndefined()
})

/** Both issuers of the service, behind one fake. */
const bothIssuers = (): { issuers: Record<string, IssuerOptions>; apis: ApiOptions[] } => ({
  issuers: { general, weblink },
  apis: [api, { baseUrl: 'https://weblink.example.com/api/', issuer: 'weblink' }],
})

test('10,000 concurrent first calls over both APIs cost one token request per issuer', async () => {
  const { tokens, issuer } = fakeService({}, bothIssuers())
  const urls = ['https://api.example.com/records', 'https://weblink.example.com/api/records']
  const sent = await Promise.all(
    Array.from({ length: 10_000 }, (_, index) =>
      apiAt(tokens, urls[index % 2]).send(async (authorization) => ({
        status: 200,
        result: authorization,
        discard() {},
      })),
    ),
  )
  expect(issuer.urls.toSorted()).toEqual([
    'https://auth.example.com/public/security/v1/token',
    'https://weblink-auth.example.com/IdentityServer/connect/token',
  ])
  expect(new Set(issuer.requests.map(({ scope }) => scope))).toEqual(new Set([undefined, 'WebLinkAPI']))
  expect(new Set(sent).size).toBe(2)
})

test('one issuer down leaves the calls of the other alone', async () => {
  const { tokens, issuer } = fakeService(
    { maxWait: 1 },
    {
      ...bothIssuers(),
      issuers: { general: generalIssuer({ authUrl, credentials: client, maxWait: 1 }), weblink },
    },
  )
  issuer.respondOnceWith(() => unavailable())
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
  await expect(tokens.getToken('weblink')).resolves.toMatchObject({ issuer: 'weblink' })
})

test('a token request never waits for its own token, also where every fetch gets tokens and the API lies around the issuer', async () => {
  const { tokens, issuer } = fakeService(
    {},
    {
      fetch: undefined,
      issuers: { general: generalIssuer({ authUrl: 'https://example.com/auth', credentials: client }) },
      apis: [{ baseUrl: 'https://example.com/', issuer: 'general' }],
    },
  )
  const exchange = async (
    url: string,
    init: RequestInit,
  ): Promise<{ response: Response; sent: Headers }> => ({
    response: url.includes('/token') ? await issuer.fetch(url, init) : new Response(),
    sent: new Headers(init.headers),
  })
  const seen: [string, string | null][] = []
  const everyFetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const attempt = async (authorization?: string): Promise<Response> => {
      const headers = new Headers(init.headers)
      if (authorization !== undefined) headers.set('authorization', authorization)
      const { response, sent } = await exchange(url, { ...init, headers })
      seen.push([new URL(url).pathname, sent.get('authorization')])
      return response
    }
    const found = tokens.route(url)
    if (found === undefined) return attempt()
    return found.send(async (authorization) => {
      const result = await attempt(authorization)
      return { status: result.status, result, discard() {} }
    })
  }
  vi.stubGlobal('fetch', everyFetch)
  await everyFetch('https://example.com/records')
  expect(seen).toEqual([
    ['/auth/public/security/v1/token', null],
    ['/records', 'Bearer token-1'],
  ])
})

test('two managers share nothing', async () => {
  const [one, other] = [fakeService(), fakeService()]
  await one.tokens.getToken('general')
  expect(other.tokens.status().issuers['general']).toEqual({ token: 'none' })
  await other.tokens.getToken('general')
  expect([one.issuer.count, other.issuer.count]).toEqual([1, 1])
})

test('an unknown issuer is named as what it is', async () => {
  const { tokens } = fakeService()
  await expect(tokens.getToken('weblink')).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
    message:
      'Cannot get token: `issuer` is not an issuer of this manager; allowed: one of general (see node_modules/@tokenlane/core/troubleshoot.md#invalid_options)',
  })
})

test('an issuer without a name must be the only one', async () => {
  const names = ['general', 'weblink']
  const issuers = Object.fromEntries(
    names.map((name) => [
      name,
      {
        tokenEndpoint: `https://${name}.example/t`,
        credentials: { clientId: name, clientSecret: 'secret-1' },
      },
    ]),
  )
  await using tokens = createTokenManager({ issuers, apis: [] })
  const message = expect.stringContaining('`issuer` is missing; allowed: one of general, weblink') as string
  await expect(tokens.getToken()).rejects.toMatchObject({ code: 'INVALID_OPTIONS', message })
  expect(() => tokens.invalidate()).toThrow('`issuer` is missing')
})

test('an observer that throws or rejects changes nothing', async () => {
  const seen: string[] = []
  const { tokens } = fakeService(
    {},
    {
      observe: [
        () => {
          throw new Error('observer')
        },
        async () => {
          throw new Error('observer')
        },
        () => runInNewContext('Promise.reject(new Error("observer"))') as unknown,
        ({ type }) => seen.push(type),
      ],
    },
  )
  await tokens.getToken('general')
  expect(seen).toEqual(['token.renewed'])
})

test('status is plain JSON', async () => {
  vi.useFakeTimers()
  const { tokens, issuer, eventsOf } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(() => unavailable())
  await tokens.getToken('general').catch(() => {})
  const retryIn = eventsOf('renewal.failed')[0]?.retryIn ?? Infinity
  expect(tokens.status()).toEqual({
    issuers: {
      general: {
        token: 'none',
        lastError: 'TOKEN_REQUEST_FAILED',
        failingSince: new Date().toISOString(),
        failedTries: 1,
        nextTryAt: new Date(Date.now() + retryIn).toISOString(),
      },
    },
    apis: [api],
  })
  vi.advanceTimersByTime(1_000)
  await tokens.getToken('general')
  const { expiresAt, ...state } = tokens.status().issuers['general'] ?? {}
  expect(state).toEqual({ token: 'live' })
  expect(new Date(expiresAt ?? '').getTime()).toBeGreaterThan(Date.now())
})

test('status tells when a token has expired, how many days the secret has left, and nothing of an error that is over', async () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) })
  const secretIssuedAt = new Date(Date.UTC(2026, 10, 1))
  const { tokens, issuer } = fakeService({ credentials: { ...client, secretIssuedAt }, maxWait: 1 })
  await tokens.warmUp()
  const state = (): unknown => tokens.status().issuers['general']
  expect(state()).toEqual({ token: 'live', expiresAt: '2026-11-21T01:00:00.000Z', daysLeft: 345 })
  vi.advanceTimersByTime(3_600_000 - 1)
  expect(state()).toMatchObject({ token: 'live' })
  vi.advanceTimersByTime(1)
  expect(state()).toMatchObject({ token: 'expired' })
  issuer.respondOnceWith(() => refusal())
  await tokens.getToken('general').catch(() => {})
  expect(state()).toMatchObject({ token: 'expired', lastError: 'TOKEN_REQUEST_REFUSED' })
  vi.advanceTimersByTime(30_000)
  await tokens.getToken('general')
  expect(state()).toEqual({ token: 'live', expiresAt: '2026-11-21T02:00:30.000Z', daysLeft: 345 })
  expect(JSON.parse(JSON.stringify(tokens.status()))).toEqual(tokens.status())
})

test('warmUp says of each issuer why it gave no token', async () => {
  const { tokens, issuer } = fakeService(
    { maxWait: 1 },
    {
      issuers: {
        general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client }),
        weblink: weblinkIssuer({
          authUrl: 'https://weblink-auth.example.com',
          credentials: client,
          maxWait: 1,
        }),
        reports: { tokenEndpoint: 'https://reports.example.com/token', credentials: client },
      },
    },
  )
  issuer.respondOnceWith(() => refusal()).respondOnceWith(() => unavailable())
  const error: unknown = await tokens.warmUp().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'TOKEN_REQUEST_REFUSED',
    message: expect.stringMatching(
      /^Cannot obtain tokens from 2 issuers:\n- issuer "general".* refused: invalid_client.*\n- issuer "weblink".* status 503/,
    ),
    failures: [
      { issuer: 'general', code: 'TOKEN_REQUEST_REFUSED' },
      { issuer: 'weblink', code: 'TOKEN_REQUEST_FAILED', status: 503 },
    ],
  })
  expect(isTokenlaneError(error)).toBe(true)
})

test('warmUp obtains every token, or tells what failed', async () => {
  const { tokens, issuer } = fakeService({}, bothIssuers())
  await tokens.warmUp()
  expect(issuer.count).toBe(2)
  expect(Object.values(tokens.status().issuers).map(({ token }) => token)).toEqual(['live', 'live'])

  const broken = fakeService()
  broken.issuer.respondWith(() => refusal())
  await expect(broken.tokens.warmUp()).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
})

test('close lets the calls under way end, also with a retry, and takes no new ones', async () => {
  const { tokens, issuer } = fakeService()
  const protectedApi = apiAt(tokens, api.baseUrl)
  let answer: (status: number) => void = () => {}
  let attempts = 0
  const call = protectedApi.send(async () => {
    attempts += 1
    const status = attempts > 1 ? 200 : await new Promise<number>((resolve) => (answer = resolve))
    return { status, result: status, discard() {} }
  })
  await expect.poll(() => attempts).toBe(1)
  let closed = false
  const closing = tokens.close().then(() => (closed = true))
  await expect(protectedApi.send(async () => raise())).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await expect(protectedApi.admit()).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  expect(closed).toBe(false)
  answer(401)
  await expect(call).resolves.toBe(200)
  await closing
  expect(issuer.count).toBe(2)
  await tokens.close()
})

test('an API that is first looked up after close takes no new calls', async () => {
  const { tokens } = fakeService()
  await tokens.close()
  await expect(apiAt(tokens, api.baseUrl).admit()).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await tokens.close()
})

test('await using closes', async () => {
  const { tokens } = fakeService()
  {
    await using scoped = tokens
    await scoped.getToken('general')
  }
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
})

function apiAt(tokens: TokenManager, url: string | undefined): Api {
  const found = tokens.route(url ?? '')
  if (found === undefined) throw new Error(`no API at ${url}`)
  return found
}

function raise(): never {
  throw new Error('sent after close')
}
