import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { client } from '../../test/fake-issuer.ts'
import { createTokenManager, oauthIssuer, type TokenlaneEvent, type TokenManager } from '../index.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const issuer = 'https://auth.example.com/tenant'
const metadata = { issuer, token_endpoint: 'https://auth.example.com/tenant/token' }
const rfc8414 = 'https://auth.example.com/.well-known/oauth-authorization-server/tenant'
const oidc = 'https://auth.example.com/tenant/.well-known/openid-configuration'
const token = (): Response =>
  Response.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
const missing = (): Response => new Response('', { status: 404 })

/** A manager whose issuer answers by URL, 404 where nothing is said, and the URLs that were asked. */
function serviceOf(
  answers: Record<string, () => Response | Error>,
  settings: object = {},
): { tokens: TokenManager; asked: string[] } {
  const asked: string[] = []
  const fetch = async (to: string | URL | Request): Promise<Response> => {
    asked.push(to as string)
    const answer = (answers[to as string] ?? missing)()
    if (answer instanceof Error) throw answer
    return answer
  }
  const partner = oauthIssuer({ issuer, credentials: client, ...settings })
  return { tokens: createTokenManager({ issuers: { partner }, apis: [], fetch }), asked }
}

test('metadata is fetched once, by RFC 8414', async () => {
  const { tokens, asked } = serviceOf({
    [rfc8414]: () => Response.json(metadata),
    [metadata.token_endpoint]: token,
  })
  await tokens.getToken('partner')
  await vi.advanceTimersByTimeAsync(3_600_000)
  await tokens.getToken('partner')
  expect(asked).toEqual([rfc8414, metadata.token_endpoint, metadata.token_endpoint])
})

test('metadata is fetched by OpenID Connect Discovery where RFC 8414 finds none', async () => {
  const { tokens, asked } = serviceOf({
    [oidc]: () => Response.json(metadata),
    [metadata.token_endpoint]: token,
  })
  await tokens.getToken('partner')
  expect(asked).toEqual([rfc8414, oidc, metadata.token_endpoint])
})

test.each<[string, () => Response, string, string]>([
  [
    'another issuer',
    () => Response.json({ ...metadata, issuer: 'https://evil.example.com/a?leaked' }),
    'TOKEN_RESPONSE_INVALID',
    "publishes another issuer's metadata (https://evil.example.com/a): check `issuers.partner.issuer`",
  ],
  [
    'HTML',
    () => new Response('<p>leaked</p>'),
    'TOKEN_RESPONSE_INVALID',
    "another issuer's metadata (none): check `issuers.partner.issuer`",
  ],
  [
    'no token endpoint',
    () => Response.json({ issuer }),
    'TOKEN_RESPONSE_INVALID',
    'no https: token endpoint',
  ],
  [
    'an endpoint without TLS',
    () => Response.json({ issuer, token_endpoint: 'http://auth.example.com/token' }),
    'INSECURE_TRANSPORT',
    'no https: token endpoint',
  ],
  [
    'an alias without TLS',
    () =>
      Response.json({ ...metadata, mtls_endpoint_aliases: { token_endpoint: 'http://auth.example.com/' } }),
    'INSECURE_TRANSPORT',
    'no https: token endpoint',
  ],
])(
  'metadata that has %s sends no secret anywhere, and fails at once',
  async (_what, answer, code, reason) => {
    const { tokens, asked } = serviceOf({ [rfc8414]: answer })
    const error: unknown = await tokens.getToken('partner').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, definite: true })
    expect(String(error)).toContain(reason)
    expect(String(error)).not.toContain('leaked')
    expect(asked).toEqual([rfc8414])
  },
)

test.each<[string, unknown, string]>([
  [
    'lists other methods',
    ['client_secret_basic', 'private_key_jwt\n'],
    ', and `clientAuthentication` (its metadata lists client_secret_basic,private_key_jwt)',
  ],
  ['lists this method', ['client_secret_basic', 'client_secret_post'], ''],
  ['lists no methods', undefined, ''],
])('a refused client of a server that %s is told so', async (_what, methods, end) => {
  const { tokens } = serviceOf({
    [rfc8414]: () => Response.json({ ...metadata, token_endpoint_auth_methods_supported: methods }),
    [metadata.token_endpoint]: () => Response.json({ error: 'invalid_client' }, { status: 401 }),
  })
  await expect(tokens.getToken('partner')).rejects.toThrow(
    `check the client id and secret in \`issuers.partner.credentials\`${end} (see`,
  )
})

test('a server without metadata fails within 2 s, and names the way out', async () => {
  const { tokens } = serviceOf({})
  const failed = tokens.getToken('partner')
  failed.catch(() => {})
  await vi.advanceTimersByTimeAsync(2_000)
  await expect(failed).rejects.toMatchObject({
    definite: true,
    status: 404,
    message: expect.stringContaining(
      'check `issuers.partner.issuer`, or set `tokenEndpoint` instead',
    ) as string,
  })
})

test('a redirect of metadata within its host, such as one that adds a slash, is no firewall', async () => {
  const moved = (): Response => new Response('', { status: 301, headers: { location: `${oidc}/` } })
  const { tokens } = serviceOf({ [rfc8414]: moved, [oidc]: moved })
  const failed = tokens.getToken('partner')
  failed.catch(() => {})
  await vi.advanceTimersByTimeAsync(2_000)
  await expect(failed).rejects.toMatchObject({
    definite: true,
    message: expect.stringContaining('has no metadata (status 301)') as string,
  })
})

test.each([
  [
    'a login page',
    302,
    { location: 'https://login.example.com/x' },
    'redirected to https://login.example.com (status 302)',
  ],
  ['an HTML page', 200, { 'content-type': 'text/html' }, 'returned an HTML page (status 200)'],
  ['a page of a firewall', 403, { 'content-type': 'text/html' }, 'returned an HTML page (status 403)'],
])('%s in place of metadata is not blamed on the options, and may pass', async (_, status, headers, what) => {
  const page = (): Response => new Response('', { status, headers })
  let answer = page
  const { tokens } = serviceOf({
    [rfc8414]: () => answer(),
    [oidc]: page,
    [metadata.token_endpoint]: token,
  })
  const events: TokenlaneEvent[] = []
  tokens.observe((event) => events.push(event))
  const call = tokens.getToken('partner')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(events[0]).toMatchObject({
    reason: expect.stringContaining(`${what}: is a proxy or firewall answering? check`) as string,
  })
  answer = () => Response.json(metadata)
  await vi.advanceTimersByTimeAsync(3_000)
  await expect(call).resolves.toMatchObject({ value: 'token-1' })
})

test('a server that is down when its metadata is fetched loses no call', async () => {
  let down = true
  const { tokens } = serviceOf({
    [rfc8414]: () => (down ? new Response('', { status: 503 }) : Response.json(metadata)),
    [oidc]: () => new Response('', { status: 503 }),
    [metadata.token_endpoint]: token,
  })
  const call = tokens.getToken('partner')
  await vi.advanceTimersByTimeAsync(1_000)
  down = false
  await vi.advanceTimersByTimeAsync(3_000)
  await expect(call).resolves.toMatchObject({ value: 'token-1' })
})

test('metadata that cannot be fetched again stays as it was', async () => {
  const answers: Record<string, () => Response | Error> = {
    [rfc8414]: () => Response.json(metadata),
    [metadata.token_endpoint]: token,
  }
  const { tokens } = serviceOf(answers)
  await tokens.getToken('partner')
  answers[rfc8414] = () => new Error('down')
  answers[metadata.token_endpoint] = () => new Response('', { status: 503 })
  await vi.advanceTimersByTimeAsync(3_600_000)
  const call = tokens.getToken('partner')
  await vi.advanceTimersByTimeAsync(1_000)
  answers[metadata.token_endpoint] = token
  await vi.advanceTimersByTimeAsync(3_000)
  await expect(call).resolves.toMatchObject({ value: 'token-1' })
})

test('an endpoint that moved is found in the same renewal', async () => {
  const moved = 'https://auth.example.com/elsewhere'
  const answers: Record<string, () => Response | Error> = {
    [rfc8414]: () => Response.json(metadata),
    [metadata.token_endpoint]: token,
  }
  const { tokens, asked } = serviceOf(answers)
  await tokens.getToken('partner')
  answers[rfc8414] = () => Response.json({ ...metadata, token_endpoint: moved })
  answers[metadata.token_endpoint] = missing
  answers[moved] = token
  await vi.advanceTimersByTimeAsync(3_600_000)
  await expect(tokens.getToken('partner')).resolves.toMatchObject({ value: 'token-1' })
  expect(asked.slice(2)).toEqual([metadata.token_endpoint, rfc8414, moved])
})

test('a fetch that keeps responses, as some frameworks patch it, gives out no token of yesterday', async () => {
  const kept = new Map<string, Response>()
  let issued = 0
  const framework = async (to: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { cache = 'force-cache' } = init as { cache?: string }
    const known = kept.get(to as string)
    if (cache !== 'no-store' && known !== undefined) return known.clone()
    issued += 1
    const fresh = Response.json({ access_token: `token-${issued}`, token_type: 'Bearer', expires_in: 60 })
    kept.set(to as string, fresh.clone())
    return fresh
  }
  const tokens = createTokenManager({
    issuers: { partner: { tokenEndpoint: metadata.token_endpoint, credentials: client } },
    apis: [],
    fetch: framework,
  })
  await expect(tokens.getToken('partner')).resolves.toMatchObject({ value: 'token-1' })
  await vi.advanceTimersByTimeAsync(60_000)
  await expect(tokens.getToken('partner')).resolves.toMatchObject({ value: 'token-2' })
})

/** A manager of an API that lies around its issuer, whose token requests go through a managed client. */
function issuerWithin(baseUrl: string): { tokens: TokenManager; events: TokenlaneEvent[] } {
  const answers: Record<string, () => Response> = {
    [oidc]: () => Response.json(metadata),
    [metadata.token_endpoint]: token,
  }
  const events: TokenlaneEvent[] = []
  const tokens: TokenManager = createTokenManager({
    issuers: { partner: oauthIssuer({ issuer, credentials: client }) },
    apis: [{ baseUrl, issuer: 'partner' }],
    observe: (event) => events.push(event),
    // as a client does that was made the global `fetch`
    fetch: async (to) => {
      const api = tokens.route(to)
      const answer = (): Response => (answers[to] ?? missing)()
      return api === undefined
        ? answer()
        : api.send(async () => ({ status: 200, result: answer(), discard() {} }))
    },
  })
  return { tokens, events }
}

test('a token endpoint that metadata names gets no token, also where an API lies around it', async () => {
  const { tokens } = issuerWithin('https://auth.example.com/')
  await expect(tokens.getToken('partner')).resolves.toMatchObject({ value: 'token-1' })
  expect(tokens.route(metadata.token_endpoint)).toBeUndefined()
  expect(tokens.route(`${metadata.token_endpoint}?x`)).toBeUndefined()
  expect(tokens.route(oidc)).toBeUndefined()
  expect(tokens.route(`${metadata.token_endpoint}s`)).toMatchObject({ issuer: 'partner' })
})

test('requests to an issuer that was discovered are not reported as missed routes', async () => {
  const { tokens, events } = issuerWithin('https://auth.example.com/api/')
  await tokens.getToken('partner')
  tokens.route(metadata.token_endpoint)
  expect(events.filter(({ type }) => type === 'route.missed')).toEqual([])
  tokens.route('https://auth.example.com/other')
  expect(events.filter(({ type }) => type === 'route.missed')).toMatchObject([{ path: '/other' }])
})
