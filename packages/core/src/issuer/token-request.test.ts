import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { Credentials } from '../credentials/credentials.ts'
import { isTokenlaneError, type TokenlaneError } from '../errors.ts'
import { protocolOf, secretInForm, type TokenEndpoint } from './protocol.ts'
import { askIssuer } from './token-request.ts'
import type { Grant } from './token-source.ts'

const secret = 'secret-that-nobody-may-see'
const url = new URL('https://auth.example.com/public/security/v1/token')
const endpoint: TokenEndpoint = {
  issuer: 'general',
  url,
  isDiscovered: false,
  option: 'authUrl',
  credentialsOption: 'credentials',
  tokenPath: undefined,
  protocol: protocolOf({}),
  proofs: [secretInForm],
  scope: undefined,
  tokenTypes: undefined,
  headers: {},
  parameters: [],
  fetch: undefined,
  beforeRequest: () => {},
  manager: {},
}
const wait = { timeLeft: Infinity, needed: true, held: undefined, accepts: () => true, pause: async () => {} }

const request = (more: Partial<TokenEndpoint>, client: Credentials, timeout = 5_000): Promise<Grant> =>
  askIssuer({ ...endpoint, ...more }, timeout).obtain(client, 'startup', wait)

const ask = (answer: () => Response | Promise<Response>, timeout?: number): Promise<Grant> =>
  request({ fetch: async () => answer() }, { clientId: 'client-1', clientSecret: secret }, timeout)

const failure = async (
  answer: () => Response | Promise<Response>,
  timeout?: number,
): Promise<TokenlaneError> => {
  const error: unknown = await ask(answer, timeout).catch((thrown: unknown) => thrown)
  if (!isTokenlaneError(error)) throw new Error('no TokenlaneError', { cause: error })
  for (const shown of [inspect(error, { depth: 12, showHidden: true }), JSON.stringify(error), error.stack])
    expect(shown).not.toMatch(/secret-that|leaked/)
  return error
}

const answered =
  (body: unknown, status = 200): (() => Response) =>
  () =>
    Response.json(body, { status })
const lasting = (lifetime: unknown): (() => Response) =>
  answered({ access_token: 'leaked', token_type: 'Bearer', expires_in: lifetime })

test('asks by POST with a form body, and with no Authorization field', async () => {
  let sent: [string | URL | Request, RequestInit] | undefined
  const fetch = async (to: string | URL | Request, init?: RequestInit): Promise<Response> => {
    sent = [to, init ?? {}]
    return lasting(3_600)()
  }
  await request(
    { parameters: [['scope', 'WebLinkAPI']], fetch },
    { clientId: 'client-1', clientSecret: 'a&b=c d' },
  )
  const [to, { method, redirect, body, headers }] = sent ?? ['', {}]
  expect(to).toBe(url.href)
  expect(method).toBe('POST')
  expect(redirect).toBe('manual')
  expect(new Headers(headers).get('content-type')).toMatch(/^application\/x-www-form-urlencoded/)
  expect(new Headers(headers).has('authorization')).toBe(false)
  expect(Object.fromEntries(body as URLSearchParams)).toEqual({
    grant_type: 'client_credentials',
    client_id: 'client-1',
    client_secret: 'a&b=c d',
    scope: 'WebLinkAPI',
  })
})

test.each([
  [3_600, 3_600_000],
  ['3600', 3_600_000],
  [3_600.7, 3_600_700],
  [0.5, 500],
  [undefined, 3_600_000],
  [null, 3_600_000],
  ['', 3_600_000],
  [' 60 ', 60_000],
  [1e12, 365 * 86_400_000],
])('expires_in %j is a lifetime of %j ms', async (given, lifetime) => {
  await expect(ask(lasting(given))).resolves.toMatchObject({ lifetime })
})

test.each([0, -5, 'abc', '-1', '1e3', '0x10', true, [], {}])(
  'expires_in %j is not a lifetime',
  async (given) => {
    expect(await failure(lasting(given))).toMatchObject({ code: 'TOKEN_RESPONSE_INVALID', definite: true })
  },
)

// Keycloak sends an ID token where the scope has `openid`; others serialize what they do not set
test.each<[string, unknown]>([
  ['id_token', `e30.${btoa('{"iss":"https://auth.example.com/realms/a"}')}.c2ln`],
  ['refresh_token', null],
  ['scope', null],
  ['scope', ['read', 'write']],
])('a token is used whatever %s comes with it', async (member, value) => {
  const body = { access_token: 'leaked', token_type: 'Bearer', expires_in: 60, [member]: value }
  await expect(ask(answered(body))).resolves.toMatchObject({ lifetime: 60_000 })
})

test.each<[string, string, () => Response]>([
  ['200 with an error', 'TOKEN_RESPONSE_INVALID', answered({ error: 'leaked' })],
  ['200 without a token', 'TOKEN_RESPONSE_INVALID', answered({ token_type: 'Bearer' })],
  ['200 with an empty token', 'TOKEN_RESPONSE_INVALID', answered({ access_token: '', token_type: 'Bearer' })],
  ['200 with HTML', 'TOKEN_RESPONSE_INVALID', () => new Response('<p>leaked</p>')],
  ['200 with null', 'TOKEN_RESPONSE_INVALID', answered(null)],
  ['another token type', 'TOKEN_RESPONSE_INVALID', answered({ access_token: 'leaked', token_type: 'DPoP' })],
  [
    'a token with a line break',
    'TOKEN_RESPONSE_INVALID',
    answered({ access_token: 'leaked\r\nX-Evil: 1', token_type: 'Bearer' }),
  ],
  ['204', 'TOKEN_RESPONSE_INVALID', () => new Response(null, { status: 204 })],
  [
    'a redirect',
    'TOKEN_RESPONSE_INVALID',
    () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
  ],
  ['403 with HTML', 'TOKEN_REQUEST_FAILED', () => new Response('<p>leaked</p>', { status: 403 })],
  ['502 with HTML', 'TOKEN_REQUEST_FAILED', () => new Response('<p>leaked</p>', { status: 502 })],
  ['429 with an RFC 6749 body', 'TOKEN_REQUEST_FAILED', answered({ error: 'invalid_client' }, 429)],
  ['500 with an RFC 6749 body', 'TOKEN_REQUEST_FAILED', answered({ error: 'invalid_client' }, 500)],
  ['temporarily_unavailable', 'TOKEN_REQUEST_FAILED', answered({ error: 'temporarily_unavailable' }, 400)],
  ['invalid_client', 'TOKEN_REQUEST_REFUSED', answered({ error: 'invalid_client' }, 401)],
  ['invalid_scope', 'TOKEN_REQUEST_REFUSED', answered({ error: 'invalid_scope' }, 400)],
])('%s is %s', async (_what, code, answer) => {
  expect((await failure(answer)).code).toBe(code)
})

test('a refusal tells status and error code, even beside a WWW-Authenticate field', async () => {
  const error = await failure(() =>
    Response.json(
      { error: 'invalid_client' },
      { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } },
    ),
  )
  expect(error).toMatchObject({ issuer: 'general', status: 401, oauthError: 'invalid_client' })
  expect(error.message).toBe(
    'Cannot obtain token: issuer "general" (https://auth.example.com/public/security/v1/token) refused: invalid_client (status 401): check the client id and secret in `credentials` (see node_modules/@tokenlane/core/troubleshoot.md#token_request_refused)',
  )
})

test.each([
  ['https://login.example.com/in?state=leaked', 'https://login.example.com'],
  ['/in?state=leaked', 'https://auth.example.com'],
])('a redirect to %s names where to, without path and query', async (location, target) => {
  const { message } = await failure(() => new Response(null, { status: 302, headers: { location } }))
  expect(message).toContain(` redirected to ${target} (status 302): is a proxy or firewall answering? check `)
  expect(message).not.toContain('leaked')
})

test.each([
  ['relative', '/public/security/v1/token/'],
  ['absolute', 'https://auth.example.com/public/security/v1/token/'],
])(
  'a %s redirect to the same URL with a slash at its end shows it (django-oauth-toolkit#1851)',
  async (_, location) => {
    const { message } = await failure(() => new Response(null, { status: 301, headers: { location } }))
    expect(message).toContain(
      ' redirected to https://auth.example.com/public/security/v1/token/ (status 301): is a proxy',
    )
  },
)

test('words in the place of a token are blamed, not the lifetime beside them (casdoor#2964)', async () => {
  const words = { access_token: 'error: invalid client_secret', token_type: '', expires_in: 0 }
  const { message } = await failure(() => Response.json(words))
  expect(message).toContain('whose `access_token` is not allowed in headers')
})

test.each([
  ['no body', () => new Response(''), 'sent no token (status 200, an empty response)'],
  ['text', () => new Response('<p>leaked</p>'), 'sent no token (status 200, text/plain)'],
  ['another error', answered({ error: 'leaked' }), 'sent no token (status 200, application/json)'],
  ['an OAuth error', answered({ error: 'invalid_client' }), 'refused: invalid_client (status 200): check'],
])('a response with %s says what it is', async (_what, answer, reason) => {
  expect((await failure(answer)).message).toContain(reason)
})

test('Retry-After travels with the failure', async () => {
  const error = await failure(() => new Response('', { status: 503, headers: { 'retry-after': '30' } }))
  expect(error).toMatchObject({ status: 503, retryAfter: 30_000 })
})

test('a transport failure keeps the code that an operator searches for, and nothing of the request', async () => {
  const error = await failure(() => {
    throw Object.assign(new TypeError('fetch failed'), {
      config: { body: `client_secret=${secret}` },
      cause: Object.assign(new Error(`connect to leaked`), { code: 'ECONNREFUSED' }),
    })
  })
  expect(error.code).toBe('TOKEN_REQUEST_FAILED')
  expect(error.message).toContain('(ECONNREFUSED)')
  expect(error.cause).toMatchObject({ name: 'TypeError', code: 'ECONNREFUSED' })
})

test.each([
  ['ENOTFOUND', 'TOKEN_REQUEST_FAILED', 'could not be reached (ENOTFOUND)'],
  ['ECONNRESET', 'TOKEN_REQUEST_FAILED', 'closed the connection before it responded (ECONNRESET)'],
  ['UND_ERR_SOCKET', 'TOKEN_REQUEST_FAILED', 'closed the connection before it responded (UND_ERR_SOCKET)'],
  [
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    'TOKEN_REQUEST_FAILED',
    'could not be reached (ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE)',
  ],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'INSECURE_TRANSPORT', 'does not support TLS 1.2 or later'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'INSECURE_TRANSPORT', 'does not support TLS 1.2 or later'],
])('a transport that fails with %s is %s', async (inner, code, reason) => {
  const error = await failure(() => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('leaked'), { code: inner }) })
  })
  expect(error).toMatchObject({ code, cause: { code: inner } })
  expect(error.message).toContain(reason)
})

test.each(['Z_DATA_ERROR', 'HPE_INVALID_CONSTANT', 'UND_ERR_HEADERS_OVERFLOW'])(
  'a response that cannot be read (%s) came from a server that was reached',
  async (inner) => {
    const error = await failure(() => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('leaked'), { code: inner }) })
    })
    expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
    expect(error.message).toContain(`sent a response that cannot be read (${inner})`)
  },
)

test('a server that speaks another protocol than HTTP/1.1 was reached', async () => {
  const error = await failure(() => {
    throw new TypeError('fetch failed', {
      cause: Object.assign(new Error('leaked'), { name: 'HTTPParserError' }),
    })
  })
  expect(error.message).toContain(' sent a response that is not HTTP/1.1 (see')
})

test.each([
  ['ssl/tls alert certificate expired', 'TOKEN_REQUEST_FAILED', 'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED'],
  ['unsupported protocol', 'INSECURE_TRANSPORT', 'ERR_SSL_UNSUPPORTED_PROTOCOL'],
])('EPROTO with "%s" of OpenSSL is %s, by its code', async (words, code, transportCode) => {
  const message = `write EPROTO 40:error:0A000415:SSL routines:ssl3_read_bytes:${words}:../rec.c:916:SSL alert number 45\n`
  const error = await failure(() => {
    throw Object.assign(new Error(message), { code: 'EPROTO' })
  })
  expect(error).toMatchObject({ code, transportCode })
  expect(error.message).toContain(`(${transportCode})`)
})

test.each([
  ['CERT_HAS_EXPIRED', /has expired \(CERT_HAS_EXPIRED\): is this machine's clock \(\d{4}-.*\) right/],
  [
    'CERT_NOT_YET_VALID',
    /is not yet valid \(CERT_NOT_YET_VALID\): is this machine's clock \(\d{4}-.*\) right/,
  ],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /an untrusted CA .*: set NODE_EXTRA_CA_CERTS to the CA file/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /an untrusted CA .*: set NODE_EXTRA_CA_CERTS to the CA file/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /an untrusted CA .*: set NODE_EXTRA_CA_CERTS to the CA file/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /an untrusted CA .*: set NODE_EXTRA_CA_CERTS to the CA file/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /a certificate for another host/],
  ['CERT_REVOKED', /a certificate that is not accepted/],
])('a certificate that fails with %s is named as what it is, and definite', async (inner, reason) => {
  const error = await failure(() => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('leaked'), { code: inner }) })
  })
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', definite: true, cause: { code: inner } })
  expect(error.message).toMatch(reason)
  expect(error.message).not.toContain('reached')
})

test.each([404, 405])('status %i names the path and what to check, and is definite', async (status) => {
  const error = await failure(() => new Response('<p>leaked</p>', { status }))
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', status, definite: true })
  expect(error.message).toContain('(https://auth.example.com/public/security/v1/token) has no token endpoint')
  expect(error.message).toContain('check `authUrl`')
})

test('an API in place of the issuer is told apart from a wrong secret by its Bearer challenge', async () => {
  const headers = { 'www-authenticate': 'Bearer realm="leaked"' }
  const error = await failure(() => new Response('', { status: 401, headers }))
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', status: 401, definite: true })
  expect(error.message).toContain('like an API, not a token endpoint: check `authUrl`')
})

test.each([
  [403, 'TOKEN_REQUEST_FAILED'],
  [200, 'TOKEN_RESPONSE_INVALID'],
])('an HTML page with status %i is said to be that of a proxy or a firewall', async (status, code) => {
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  const error = await failure(() => new Response('<p>leaked</p>', { status, headers }))
  expect(error).toMatchObject({ code, status })
  expect(error.definite).toBeUndefined()
  expect(error.message).toContain(`an HTML page (status ${status}): is a proxy or firewall answering?`)
})

test('an HTML page with status 400 may come from a server that refuses the client certificate', async () => {
  const page = new Response('<p>leaked</p>', { status: 400, headers: { 'content-type': 'text/html' } })
  expect((await failure(() => page.clone())).message).toContain(
    'is a proxy or firewall answering, or is a client certificate missing or refused? check `',
  )
})

test('an HTML page of a server in trouble is not blamed on a firewall', async () => {
  const page = new Response('<p>leaked</p>', { status: 503, headers: { 'content-type': 'text/html' } })
  expect((await failure(() => page.clone())).message).toContain('responded with status 503 (see')
})

test('a connection that failed elsewhere than at the endpoint is not blamed on the issuer', async () => {
  const refused = { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 }
  const error = await failure(() => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('leaked'), refused) })
  })
  expect(error.message).toContain('no connection to 127.0.0.1:9, which is a proxy (ECONNREFUSED)')
  expect(error.cause).toMatchObject({ message: 'ECONNREFUSED 127.0.0.1:9', code: 'ECONNREFUSED' })
})

test('one of several addresses of the endpoint itself is not taken for a proxy', async () => {
  const refused = { code: 'ECONNREFUSED', address: '203.0.113.7', port: 443 }
  const error = await failure(() => {
    throw new TypeError('fetch failed', {
      cause: Object.assign(new AggregateError([Object.assign(new Error('leaked'), refused)]), {
        code: 'ECONNREFUSED',
      }),
    })
  })
  expect(error.message).toContain('could not be reached (ECONNREFUSED)')
})

test.each<[name: string, thrown: unknown]>([
  ['ReferenceError', new ReferenceError('leaked is not defined')],
  ['Error', new Error('leaked: net connect is not allowed')],
  ['TypeError', new TypeError('fetch failed', { cause: new RangeError('leaked') })],
  ['Error', 'leaked text'],
])('an error without a code is named by its class: %s', async (name, thrown) => {
  const error = await failure(() => {
    throw thrown
  })
  expect(error.message).toContain(`could not be reached (${name}) (see`)
})

async function readBefore(): Promise<Response> {
  const response = lasting(3_600)()
  await response.text()
  return response
}

test('a runtime whose fetch was taken away fails no call with a bare TypeError', async () => {
  vi.stubGlobal('fetch', undefined)
  const error = await request({}, { clientId: 'client-1', clientSecret: secret }).catch(
    (thrown: Error) => thrown,
  )
  vi.unstubAllGlobals()
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
  expect((error as Error).message).toContain('could not be reached (TypeError)')
})

test.each<[what: string, given: unknown]>([
  ['nothing', undefined],
  ['text', '{"access_token":"leaked"}'],
  ['the response of axios', { status: 200, data: { access_token: 'leaked' }, headers: {} }],
  ['a mock with `json` alone', { ok: true, status: 200, json: async () => ({ access_token: 'leaked' }) }],
  ['a Response that was read', await readBefore()],
])(
  'a fetch that returns no Response, or one that was read, is named as the reason: %s',
  async (_what, given) => {
    const error = await failure(() => given as Response)
    expect(error.code).toBe('TOKEN_RESPONSE_INVALID')
    expect(error.message).toContain('gave `fetch` no unread Response (see')
  },
)

test('a known OAuth error is reported even where the secret is a part of it', async () => {
  const refused = request(
    { fetch: async () => answered({ error: 'invalid_client' }, 401)() },
    { clientId: 'client-1', clientSecret: 'client' },
  )
  await expect(refused).rejects.toMatchObject({ oauthError: 'invalid_client' })
})

test.each(['Sat, 21 Nov 2026 00:01:30 GMT', 'Fri, 20 Nov 2026 22:00:00 GMT', 'soon'])(
  'a lifetime is relative: a Date field of %s changes nothing',
  async (date) => {
    const answer = lasting(3_600)()
    answer.headers.set('date', date)
    await expect(ask(() => answer)).resolves.toMatchObject({ lifetime: 3_600_000 })
  },
)

test('an answer of more than 1 MiB is cut off', async () => {
  const large = JSON.stringify({ access_token: 'leaked', token_type: 'Bearer', junk: ' '.repeat(1_048_576) })
  expect((await failure(() => new Response(large))).message).toContain('more than 1 MiB')
})

test('a fetch that does not heed its signal ends with the signal all the same', async () => {
  const late = await failure(() => new Promise(() => {}), 1)
  expect(late.code).toBe('TOKEN_REQUEST_TIMEOUT')
  expect(late.message).toContain('did not respond in 1 ms')
})
