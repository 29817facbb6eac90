import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { client, FakeIssuer, fakeService, secretsOf } from '../../test/fake-issuer.ts'
import { shown } from '../../test/shown.ts'
import { createTokenManager, oauthIssuer, type TokenlaneError } from '../index.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const other = { ...client, clientSecret: 'secret-2' }
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

function as(type: string, body: string, status: number, more: Record<string, string> = {}): () => Response {
  return () => new Response(body, { status, headers: { ...(type && { 'content-type': type }), ...more } })
}

const problem = JSON.stringify({
  type: 'about:blank',
  title: 'Unauthorized',
  detail: 'Client authentication failed',
})

const refusals: readonly (readonly [string, () => Response, string])[] = [
  ['401 with text', as('text/plain', 'Unauthorized', 401), 'status 401, no OAuth error (text/plain)'],
  [
    '401 with problem+json',
    as('application/problem+json', problem, 401),
    'no OAuth error (application/problem+json, "Client authentication failed")',
  ],
  ['400 with XML', as('application/xml', '<a>b</a>', 400), 'status 400, no OAuth error (application/xml)'],
  ['401 and nothing', as('', '', 401), 'status 401, no OAuth error (an empty response)'],
  ['403 and nothing', as('', '', 403), 'status 403, no OAuth error (an empty response)'],
  [
    '400 with words of its own',
    as('application/json', '{"code":7,"message":"No such application"}', 400),
    'status 400, no OAuth error (application/json, "No such application")',
  ],
  [
    '401 with an error of its own',
    as('application/json', '{"error":"Unauthorized"}', 401),
    'refused: Unauthorized (status 401)',
  ],
]

test.each(refusals)(
  '%s is a refusal: one request, at once, with what was seen',
  async (_what, answer, seen) => {
    const { tokens, issuer } = fakeService()
    issuer.respondWith(answer)
    const error = await tokens.getToken('general').catch((reason: unknown) => reason as TokenlaneError)
    expect(error).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', issuer: 'general', definite: true })
    expect((error as Error).message).toContain(seen)
    await pass(900)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
    expect(issuer.count).toBe(1)
    await pass(1_101)
    await tokens.getToken('general').catch(() => {})
    expect(issuer.count).toBe(2)
  },
)

test.each(refusals)('%s: the next credentials are tried in the same flight', async (_what, answer) => {
  const { tokens, issuer } = fakeService({ credentials: [client, other] })
  issuer.respondWith(() =>
    issuer.requests.at(-1)?.['client_secret'] === 'secret-2' ? issuer.token() : answer(),
  )
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-2'])
})

test.each([
  ['401 with HTML', as('text/html', '<p>sign in</p>', 401)],
  ['403 with HTML that says it is text', as('text/plain', '<!DOCTYPE html><p>blocked</p>', 403)],
  ['403 that asks to come back', as('text/plain', 'slow down', 403, { 'retry-after': '1' })],
  ['407 of a proxy', as('text/plain', 'who are you', 407)],
  ['408', as('', '', 408)],
  ['425', as('', '', 425)],
  ['429', as('application/json', '{"error":"invalid_client"}', 429)],
  ['503', as('', '', 503)],
])('%s is transient: a short outage loses no call', async (_what, answer) => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(answer)
  const token = tokens.getToken('general')
  await pass(2_000)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
  expect(issuer.count).toBe(2)
})

const describing =
  (error_description: unknown, error = 'invalid_client') =>
  (): Response =>
    Response.json({ error, error_description }, { status: 401 })

async function messageOf(answer: () => Response, options: object = {}): Promise<string> {
  const { tokens, issuer } = fakeService({ maxWait: 1, ...options })
  issuer.respondWith(answer)
  const error: unknown = await tokens.getToken('general').catch((reason: unknown) => reason)
  for (const secret of ['a-secret-of-many-characters', 'of-many-char'])
    expect(shown(error)).not.toContain(secret)
  return (error as Error).message
}

const credentials = { clientId: 'client-1', clientSecret: 'a-secret-of-many-characters' }

test('an error that is called like a member of every object is like any other', async () => {
  expect(await messageOf(as('application/json', '{"error":"constructor"}', 400))).toMatch(
    /refused: constructor \(status 400\) \(see/,
  )
})

test.each<[string, unknown, string]>([
  [
    'is shown',
    'DPoP proof JWT required',
    'refused: invalid_client (status 401, "DPoP proof JWT required"): check',
  ],
  ['is one line of printable characters', 'a\r\n\u001B[31mb\u202Ec', '"a [31mb c")'],
  ['is cut', 'x'.repeat(100_000), `"${'x'.repeat(200)}…")`],
  ['is left out where it is no text', { a: 1 }, 'refused: invalid_client (status 401): check'],
  ['is left out where it is empty', ' \n', 'refused: invalid_client (status 401): check'],
  [
    'is shown without the secret',
    'wrong secret a-secret-of-many-characters!',
    '"wrong secret [client_secret]!")',
  ],
  ['is shown without the client id', 'client client-1 is locked', '"client [client_id] is locked")'],
  [
    'is left out with a part of the secret',
    'wrong secret: a-secret-of-many…',
    'refused: invalid_client (status 401): check',
  ],
  [
    'is left out with the end of the secret',
    'secret ends with many-characters',
    'refused: invalid_client (status 401): check',
  ],
])('a description %s', async (_what, description, message) => {
  expect(await messageOf(describing(description), { credentials })).toContain(message)
})

test('a description that repeats a secret in which the client id stands names the secret', async () => {
  const { tokens, issuer } = fakeService({ credentials: { clientId: 'shop', clientSecret: 'a~shop~b' } })
  issuer.respondWith(describing('wrong: a~shop~b'))
  await expect(tokens.getToken('general')).rejects.toThrow('"wrong: [client_secret]"')
})

test('a description that repeats the whole form shows the names of its fields alone', async () => {
  const { tokens, issuer } = fakeService({ credentials })
  issuer.respondWith(() => describing(`got ${new URLSearchParams(issuer.requests.at(-1)).toString()}`)())
  const error = (await tokens.getToken('general').catch((reason: unknown) => reason)) as Error
  expect(error.message).toContain(
    '"got grant_type=client_credentials&client_id=[client_id]&client_secret=[client_secret]")',
  )
})

test.each<[object, string, boolean | undefined]>([
  ...['DPoP', 'dpop', 'mac', 'N_A', 'PoP'].map((type): [object, string, boolean] => [
    { access_token: 'a', token_type: type },
    `whose \`token_type\` is ${type}, which a Bearer header cannot carry`,
    true,
  ]),
  [{ token_type: 'Bearer' }, 'whose `access_token` is missing', undefined],
  [
    { access_token: 'a', token_type: 'Bearer', expires_in: -5 },
    'whose `expires_in` is not a number above 0',
    true,
  ],
  [{ access_token: 'null', token_type: 'Bearer' }, 'whose `access_token` is null or undefined as text', true],
  [{ access_token: 'a\nb', token_type: 'Bearer' }, 'whose `access_token` is not allowed in headers', true],
])('a token response %j says by name what is wrong with it', async (body, reason, definite) => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.respondWith(() => Response.json(body))
  const error = await tokens.getToken('general').catch((thrown: unknown) => thrown as TokenlaneError)
  expect(error).toMatchObject({ code: 'TOKEN_RESPONSE_INVALID', ...(definite && { definite }) })
  expect((error as Error).message).toContain(`sent a token response ${reason}`)
  expect(issuer.count).toBe(1)
})

test.each([
  [{ error: 'Realm does not exist' }, 404, ', "Realm does not exist"'],
  [{ error: 'Not Found', message: 'No such page' }, 404, ', "Not Found: No such page"'],
  [{ error: 'not_found', error_description: 'for client-1' }, 405, ', "not_found: for [client_id]"'],
  [{ error: '', message: 'wrong: a-secret-of-many…' }, 405, ''],
])('%j with status %i is about the path, and quoted', async (body, status, quoted) => {
  expect(await messageOf(() => Response.json(body, { status }), { credentials })).toContain(
    `has no token endpoint at this path (status ${status}${quoted}): check`,
  )
})

test.each<[string, object, string]>([
  ['WeChat', { errcode: 40_013, errmsg: 'invalid appid' }, ', "invalid appid"'],
  ['Marketo', { success: false, errors: [{ code: '600', message: 'Bad' }] }, ', "Bad"'],
  ['a token in words', { message: 'eyJhbGciOiJIUzI1NiJ9.e30.a' }, ''],
])('a success without a token is quoted: %s', async (_who, body, quoted) => {
  expect(await messageOf(() => Response.json(body), { credentials, maxWait: 1 })).toContain(
    `sent no token (status 200, application/json${quoted});`,
  )
})

test('a description that repeats the token in use is not quoted', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondOnceWith(() => Response.json({ access_token: 'opaque-9fJ2mQ4xV8', expires_in: 60 }))
  await tokens.getToken('general')
  await pass(57_500)
  const words = { error: 'server_error', error_description: 'opaque-9fJ2mQ4xV8 is active' }
  issuer.respondWith(() => Response.json(words, { status: 500 }))
  await tokens.getToken('general')
  await pass(0)
  expect(eventsOf('renewal.failed')[0]?.reason).toContain('responded with status 500')
  expect(JSON.stringify(eventsOf('renewal.failed'))).not.toContain('opaque')
})

test('a description with a JSON Web Token is not quoted', async () => {
  const body = { error: 'invalid_client', error_description: 'not for eyJhbGciOiJIUzI1NiJ9.e30.a' }
  const told = await messageOf(() => Response.json(body, { status: 401 }), { credentials })
  expect(told).toContain('refused: invalid_client (status 401): check')
})

test('an error in words, or of a server in trouble, is quoted', async () => {
  const options = { credentials, maxWait: 1 }
  const answering = (status: number) => (): Response => Response.json({ error: 'Out of order' }, { status })
  expect(await messageOf(answering(401), options)).toContain(
    'refused: an unusual error code (status 401, "Out of order"): check',
  )
  expect(await messageOf(answering(503), options)).toContain(
    'responded with status 503, "Out of order"; gave up',
  )
})

test.each([
  ['invalid_client', 404, true, false],
  ['unauthorized_client', 401, true, true],
  ['unauthorized_client', 400, false, true],
  ['access_denied', 401, true, false],
  ['access_denied', 403, false, false],
])('%s with status %i is a refusal; to check the secret: %s, the grant: %s', async (...given) => {
  const [code, status, isSecret, isGrant] = given
  const { tokens, issuer } = fakeService()
  issuer.respondWith(as('application/json', JSON.stringify({ error: code }), status))
  const refused = await tokens.getToken('general').catch((reason: unknown) => reason as TokenlaneError)
  expect(refused).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  const { message } = refused as Error
  expect(message.includes('check the client id and secret')).toBe(isSecret)
  expect(message.includes('is this client allowed to use the client credentials grant?')).toBe(isGrant)
})

test('an issuer that says where it wants the secret is about `clientAuthentication`, too', async () => {
  const refuse = (error_description: string) => () =>
    Response.json({ error: 'invalid_client', error_description }, { status: 401 })
  const hint = 'check the client id and secret in `issuers.general.credentials`'
  const told = await messageOf(refuse('credentials are only accepted in the form body'), { credentials })
  expect(told).toContain(`${hint}, and \`clientAuthentication\``)
  expect(await messageOf(refuse('unknown client'), { credentials })).not.toContain('clientAuthentication')
})

test.each([
  ['Basic realm="x"', 'client_secret_post', true],
  ['basic', 'client_secret_post', true],
  ['Basic realm="x"', 'client_secret_basic', false],
  ['Digest realm="basic"', 'client_secret_post', false],
] as const)(
  'a challenge that is %s is about `clientAuthentication` if that is %s: %s',
  async (challenge, clientAuthentication, isNamed) => {
    const issuer = new FakeIssuer().respondWith(as('', '', 401, { 'www-authenticate': challenge }))
    const tokenEndpoint = 'https://auth.example.com/token'
    const partner = oauthIssuer({ tokenEndpoint, clientAuthentication, credentials: client })
    const tokens = createTokenManager({ issuers: { partner }, apis: [], fetch: issuer.fetch })
    const { message } = (await tokens.getToken('partner').catch((reason: unknown) => reason)) as Error
    expect(message.includes('`issuers.partner.credentials`, and `clientAuthentication` (see')).toBe(isNamed)
  },
)

test.each([
  ['invalid_scope', '`scope`'],
  ['invalid_target', '`parameters`'],
])('%s names the option %s', async (error, option) => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(as('application/json', JSON.stringify({ error }), 400))
  await expect(tokens.getToken('general')).rejects.toThrow(
    `refused: ${error} (status 400): check ${option} (see`,
  )
})
