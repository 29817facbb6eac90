import type { RequestListener } from 'node:http'
import { createTokenManager, oauthIssuer, type IssuerOptions, type TokenlaneEvent } from '../../src/index.ts'
import { beforeEach, expect, test } from 'vitest'
import { useServer } from '../use-server.ts'

// What token endpoints answered in public reports, on a real server.

let answer: RequestListener
let forms: string[]
const server = useServer((request, response) => {
  let form = ''
  request.on('data', (chunk: Buffer) => (form += chunk.toString()))
  request.on('end', () => {
    forms.push(`${request.url} ${form}`)
    answer(request, response)
  })
})
beforeEach(() => {
  forms = []
})

const json =
  (body: unknown, status = 200): RequestListener =>
  (_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body))

/** `expires_on` of a token that lives for so long from now. */
const inSeconds = (seconds: number): number => Math.round(Date.now() / 1_000) + seconds

async function ask(options: Partial<IssuerOptions> = {}) {
  const events: TokenlaneEvent[] = []
  const tokens = createTokenManager({
    issuers: {
      general: oauthIssuer({
        tokenEndpoint: `${server.url}/token`,
        credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
        allowInsecureLoopback: true,
        ...options,
      } as IssuerOptions),
    },
    apis: [],
    observe: (event) => events.push(event),
  })
  const outcome = await tokens.getToken('general').then(
    ({ value, expiresAt }) => ({ value, left: Math.round((expiresAt.getTime() - Date.now()) / 10_000) * 10 }),
    (error: { code: string; definite?: boolean; message: string }) => error,
  )
  const { general } = tokens.status().issuers
  const again = await tokens.getToken('general').then(
    () => 'token',
    () => 'none',
  )
  await tokens.close()
  return { outcome, events, general, again }
}

test.each<[string, RequestListener, number]>([
  [
    '201 Created (openhab-core#5284)',
    json({ access_token: 'a', token_type: 'Bearer', expires_in: 60 }, 201),
    60,
  ],
  ['202 and 203 of gateways', json({ access_token: 'a', token_type: 'Bearer', expires_in: 60 }, 203), 60],
  [
    'a type of its own (eBay, postman-app-support#5434)',
    json({ access_token: 'a', token_type: 'Application Access Token', expires_in: 60 }),
    60,
  ],
  ['BearerToken (Apigee)', json({ access_token: 'a', token_type: 'BearerToken', expires_in: '60' }), 60],
  ['no type (Salesforce Marketing Cloud, Genesys)', json({ access_token: 'a', expires_in: 60 }), 60],
  ['a type that is null', json({ access_token: 'a', token_type: null, expires_in: 60 }), 60],
  ['a type that is no text', json({ access_token: 'a', token_type: { name: 'Bearer' }, expires_in: 60 }), 60],
  [
    'expires_in null (oauthlib#675)',
    json({ access_token: 'a', token_type: 'Bearer', expires_in: null }),
    3_600,
  ],
  ['an empty expires_in', json({ access_token: 'a', token_type: 'Bearer', expires_in: '' }), 3_600],
  ['expires_in as text (UPS)', json({ access_token: 'a', token_type: 'Bearer', expires_in: ' 60 ' }), 60],
  [
    'white space around it all',
    json(' \n{"access_token":" a\\n","token_type":" bearer ","expires_in":60}\n'),
    60,
  ],
  ['a byte order mark', json('\uFEFF{"access_token":"a","token_type":"Bearer","expires_in":60}'), 60],
  [
    'a form in place of JSON (GitHub, Facebook)',
    (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' })
        .end('access_token=a&token_type=bearer&expires_in=60'),
    60,
  ],
  [
    'JSON that is labelled as text',
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('{"access_token":"a","expires_in":60}'),
    60,
  ],
  [
    'a form that is labelled as text (IBM, ruby-oauth/oauth2#126)',
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('access_token=a&expires_in=60\n'),
    60,
  ],
  [
    'JSON that is labelled as a form',
    (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
        .end('{"access_token":"a","expires_in":60}'),
    60,
  ],
  ['an expires_in with its unit', json({ access_token: 'a', expires_in: '60s' }), 60],
  ['an expires_in with decimals', json({ access_token: 'a', expires_in: '59.999' }), 60],
  [
    'expires_in_sec beside ms (Weble/ZohoClient#11)',
    json({ access_token: 'a', expires_in: 6e4, expires_in_sec: 60 }),
    60,
  ],
  [
    'no lifetime but a moment, expires_on (Azure)',
    json({ access_token: 'a', expires_on: `${inSeconds(60)}` }),
    60,
  ],
  ['no lifetime but a moment, expires_at', json({ access_token: 'a', expires_at: inSeconds(60) }), 60],
  ['a moment as a date', json({ access_token: 'a', expires_at: new Date(inSeconds(60) * 1_000) }), 60],
  ['a moment in ms', json({ access_token: 'a', expires_at: inSeconds(60) * 1_000 }), 60],
  ['`expires` (Facebook)', json({ access_token: 'a', expires: 60 }), 60],
  [
    '`.expires` (ASP.NET)',
    json({ access_token: 'a', '.expires': new Date(inSeconds(60) * 1_000).toUTCString() }),
    60,
  ],
  ['`expiresIn`', json({ access_token: 'a', expiresIn: 60 }), 60],
  ['a lifetime in ms under another name', json({ access_token: 'a', expires_in_ms: 6e4 }), 3_600],
  [
    'Bearer in front of the token (nuxt-community/auth-module#95)',
    json({ access_token: 'Bearer a', expires_in: 60 }),
    60,
  ],
  ['a moment that cannot be read', json({ access_token: 'a', expires_at: 'tomorrow' }), 3_600],
  ['an epoch as expires_in', json({ access_token: 'a', expires_in: inSeconds(60) }), 60],
  ['fifty years', json({ access_token: 'a', expires_in: 1_576_797_207 }), 31_536_000],
  ['no end (WSO2)', json('{"access_token":"a","expires_in":9223372036854775807}'), 31_536_000],
])('a token response is what has an access token: %s', async (_what, given, left) => {
  answer = given
  expect((await ask()).outcome).toEqual({ value: 'a', left })
  expect(forms).toHaveLength(1)
})

test('what was odd is said once, in one event, and renewals do not repeat it', async () => {
  answer = json({ access_token: 'a', token_type: 'Application Access Token' }, 201)
  const { events } = await ask()
  expect(events.filter(({ type }) => type === 'token.unusual')).toEqual([
    {
      type: 'token.unusual',
      issuer: 'general',
      oddities: [
        'status 201 instead of 200',
        'a `token_type` that is not Bearer',
        'no `expires_in` (1 h is assumed)',
      ],
    },
  ])
})

test.each<[string, object, string]>([
  ['a moment', { expires_at: inSeconds(60) }, 'no `expires_in` (`expires_at` is used)'],
  ['ms', { expires_in: 6e4, expires_in_sec: 60 }, 'an `expires_in` beside `expires_in_sec`'],
  ['years', { expires_in: 86_399_998 }, 'an `expires_in` of more than a year (in ms?)'],
])('a lifetime that is not what it should be is odd: %s', async (_what, lifetime, oddity) => {
  answer = json({ access_token: 'a', token_type: 'Bearer', ...lifetime })
  const { events } = await ask()
  expect(events).toContainEqual({ type: 'token.unusual', issuer: 'general', oddities: [oddity] })
})

test('a form in place of JSON is odd', async () => {
  answer = (_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
      .end('access_token=a&token_type=bearer&expires_in=60')
  const { events } = await ask()
  expect(events.filter(({ type }) => type === 'token.unusual')).toEqual([
    { type: 'token.unusual', issuer: 'general', oddities: ['a form in place of JSON'] },
  ])
})

test('a token that begins with Bearer is odd', async () => {
  answer = json({ access_token: 'bearer  a', token_type: 'Bearer', expires_in: 60 })
  const { events } = await ask()
  const oddities = ['an `access_token` that begins with Bearer']
  expect(events).toContainEqual({ type: 'token.unusual', issuer: 'general', oddities })
})

test.each<[object, string]>([
  [{ token: 'a' }, ': `token`'],
  [{ accessToken: 'a', expiresIn: 60 }, ': `accessToken`'],
  [{ data: { access_token: 'a' } }, ': `data.access_token`'],
  [[{ access_token: 'a' }], ': `0.access_token`'],
  [{ jwt: 'a.b.c' }, ': `jwt`'],
  // a server that repeats what was sent
  [{ 'secret-1-token': 'a' }, ' ('],
  [{ data: { x9fJ2mQ4xV8bN6cZ1_token: 'a' } }, ' ('],
])('a token that stands elsewhere is found: %j', async (body, place) => {
  answer = json(body)
  const { outcome } = await ask()
  expect((outcome as { message: string }).message).toContain(
    `whose \`access_token\` is in another place, or has another name${place}`,
  )
  expect(forms).toHaveLength(1)
})

test.each<[string, object]>([
  ['DPoP (RFC 9449)', { access_token: 'a', token_type: 'DPoP', expires_in: 60 }],
  ['mac', { access_token: 'a', token_type: 'mac', expires_in: 60 }],
  ['N_A (RFC 8693)', { access_token: 'a', token_type: 'N_A', expires_in: 60 }],
  ['no lifetime', { access_token: 'a', token_type: 'Bearer', expires_in: 0 }],
  ['a lifetime of words', { access_token: 'a', token_type: 'Bearer', expires_in: 'never' }],
  ['a token in another place (httpx_auth#119)', { tokenData: { access_token: 'a', expires_in: 60 } }],
  ['a token by another name (Marketing Cloud)', { accessToken: 'a', expiresIn: 60 }],
  ['a token of another kind (Google)', { id_token: 'a.b.c', token_type: 'Bearer' }],
  ['a token in an array', [{ access_token: 'a', expires_in: 60 }]],
  ['a token that is a number', { access_token: 12, token_type: 'Bearer', expires_in: 60 }],
  ['a token that is an object', { access_token: { value: 'a' }, token_type: 'Bearer', expires_in: 60 }],
  ['a token of two lines', { access_token: 'a\nb', token_type: 'Bearer', expires_in: 60 }],
])('what is refused for good is asked for once, and calls fail at once: %s', async (_what, body) => {
  answer = json(body)
  const { outcome, again } = await ask()
  expect(outcome).toMatchObject({ code: 'TOKEN_RESPONSE_INVALID', definite: true })
  expect(again).toBe('none')
  expect(forms).toHaveLength(1)
})

test('what is refused for good is so whatever its `Retry-After` says', async () => {
  answer = (_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'retry-after': '0' })
      .end('{"access_token":"a","token_type":"DPoP"}')
  expect((await ask()).again).toBe('none')
  expect(forms).toHaveLength(1)
})

test.each<[string, RequestListener]>([
  ['nothing', json('')],
  ['an empty object', json({})],
  ['an error that passes', json({ error: 'temporarily_unavailable' })],
  ['a page', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>starting')],
])('what may pass is asked for again: a success with %s', async (_what, given) => {
  answer = (request, response) =>
    (forms.length === 1 ? given : json({ access_token: 'a', expires_in: 60 }))(request, response)
  expect((await ask()).outcome).toMatchObject({ value: 'a' })
})

test.each<[string, object, string]>([
  [
    'Okta',
    { errorCode: 'invalid_client', errorSummary: 'A client_id must be provided.' },
    'A client_id must be',
  ],
  ['Google', { error: { code: 401, message: 'The key is not valid.' } }, 'The key is not valid.'],
  ['Apigee', { fault: { faultstring: 'Invalid client id' } }, 'Invalid client id'],
  ['Apigee', { ErrorCode: 'invalid_client', Error: 'ClientId is Invalid' }, 'ClientId is Invalid'],
  ['FedEx', { errors: [{ code: 'NOT.AUTHORIZED', message: 'Not a valid client.' }] }, 'Not a valid client.'],
  ['UPS', { response: { errors: [{ code: '10401', message: 'Invalid client.' }] } }, 'Invalid client.'],
  ['Zoom', { reason: 'Invalid client_id', error: 'invalid_client' }, 'Invalid client_id'],
  ['Genesys', { error: 'invalid_client', description: 'not known here' }, 'not known here'],
])('the words of a server are quoted, wherever they stand: %s', async (_who, body, words) => {
  answer = json(body, 401)
  const { outcome } = await ask()
  expect(outcome).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', definite: true })
  expect((outcome as { message: string }).message).toContain(words)
})

test.each(['unknown_error', 'internal_failure', 'service_unavailable', 'Internal Server Error'])(
  'an error of the issuer is no refusal, whatever its status: %s (Salesforce, Google)',
  async (error) => {
    answer = (request, response) =>
      (forms.length === 1 ? json({ error }, 400) : json({ access_token: 'a', expires_in: 60 }))(
        request,
        response,
      )
    expect((await ask()).outcome).toMatchObject({ value: 'a' })
  },
)

test.each([409, 499])('status %i of a gateway passes (nginx)', async (status) => {
  answer = (request, response) =>
    (forms.length === 1 ? json('', status) : json({ access_token: 'a', expires_in: 60 }))(request, response)
  expect((await ask()).outcome).toMatchObject({ value: 'a' })
})

test('an error in XML is a refusal', async () => {
  answer = (_, response) =>
    response.writeHead(401, { 'content-type': 'application/xml' }).end('<error>invalid_client</error>')
  expect((await ask()).outcome).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', definite: true })
})

test('an error of another name about the client names its credentials (Salesforce)', async () => {
  answer = json({ error: 'invalid_client_id', error_description: 'client identifier invalid' }, 400)
  const { outcome } = await ask()
  expect((outcome as { message: string }).message).toContain('check the client id and secret')
})

test('a 401 is a refusal, whatever its error is called (ServiceNow)', async () => {
  answer = json({ error: 'server_error', error_description: 'access_denied' }, 401)
  const { outcome } = await ask()
  expect(outcome).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', oauthError: 'server_error', definite: true })
  expect((outcome as { message: string }).message).toContain('check the client id and secret')
  expect(forms).toHaveLength(1)
})

test.each([
  ['Zoho', 'invalid_client'],
  ['GitHub (lelylan/simple-oauth2#459)', 'incorrect_client_credentials'],
  ['Slack', 'bad_client_secret'],
])('an error with status 200 is a refusal: %s', async (_who, error) => {
  answer = json({ error })
  const { outcome } = await ask()
  expect(outcome).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', oauthError: error, definite: true })
  expect((outcome as { message: string }).message).toContain('check the client id and secret')
  expect(forms).toHaveLength(1)
})

test.each(['server_error', 'temporarily_unavailable', 'slow_down', 'ratelimited', 'upstream connect error'])(
  'an error with status 200 that may pass is tried again: %s',
  async (error) => {
    answer = (request, response) =>
      json(forms.length < 2 ? { error } : { access_token: 'a' })(request, response)
    expect((await ask()).outcome).toMatchObject({ value: 'a' })
    expect(forms).toHaveLength(2)
  },
)

test('`tokenTypes` narrows the types that are accepted, in any case', async () => {
  answer = json({ access_token: 'a', token_type: 'bearer', expires_in: 60 })
  expect((await ask({ tokenTypes: ['Bearer'] })).outcome).toMatchObject({ value: 'a' })
  for (const type of ['Application Access Token', undefined]) {
    answer = json({ access_token: 'a', token_type: type, expires_in: 60 })
    const { outcome } = await ask({ tokenTypes: ['Bearer'] })
    expect(outcome).toMatchObject({ code: 'TOKEN_RESPONSE_INVALID', definite: true })
    expect((outcome as { message: string }).message).toContain('`tokenTypes`: bearer')
  }
  answer = json({ access_token: 'a', token_type: 'DPoP', expires_in: 60 })
  expect((await ask({ tokenTypes: ['DPoP'] })).outcome).toMatchObject({ value: 'a' })
  await expect(ask({ tokenTypes: [] })).rejects.toThrow('`issuers.general.tokenTypes` is empty')
})

test.each<[string, unknown, readonly string[] | undefined]>([
  ['fewer (iam#769)', 'records.read', ['records.write']],
  ['none', '', ['records.read', 'records.write']],
  ['fewer, in an array', ['records.read'], ['records.write']],
  ['all, in another order, and more', 'records.write admin records.read', undefined],
  ['all, with commas', 'records.read,records.write', undefined],
  ['nothing about scopes', undefined, undefined],
  ['null', null, undefined],
])('the scopes that the response lacks are said where it names %s', async (_what, scope, missing) => {
  answer = json({ access_token: 'a', token_type: 'Bearer', expires_in: 60, scope })
  const { events, general } = await ask({ scope: 'records.read records.write' })
  expect(events.filter(({ type }) => type === 'scope.narrowed')).toEqual(
    missing ? [{ type: 'scope.narrowed', issuer: 'general', missing }] : [],
  )
  expect(general.missingScopes).toEqual(missing)
})

test('scopes of other names that `.default` stands for are not missed (Entra ID)', async () => {
  answer = json({ access_token: 'a', token_type: 'Bearer', expires_in: 60, scope: 'User.Read.All' })
  const { events } = await ask({ scope: 'https://graph.example.com/.default' })
  expect(events.filter(({ type }) => type === 'scope.narrowed')).toEqual([])
})

test('the token request has the `headers` of its issuer, and keeps those that it sets', async () => {
  let seen: Record<string, unknown> = {}
  answer = (request, response) => {
    seen = request.headers
    json(
      { error: 'invalid_client', error_description: `wrong ${String(request.headers['x-api-key'])}` },
      401,
    )(request, response)
  }
  const headers = { 'X-API-Key': 'key-of-the-gateway', 'User-Agent': 'orders' }
  const { outcome } = await ask({ headers })
  expect(seen).toMatchObject({ 'x-api-key': 'key-of-the-gateway', 'user-agent': 'orders' })
  expect(seen['content-type']).toContain('application/x-www-form-urlencoded')
  expect((outcome as { message: string }).message).not.toContain('key-of-the-gateway')
  for (const wrong of [{ 'content-type': 'a' }, { a: 'b\nc' }, { 'a b': 'c' }, { a: '' }, { Host: 'a' }])
    await expect(ask({ headers: wrong })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
  await expect(
    ask({ headers: { Authorization: 'a' }, clientAuthentication: 'client_secret_basic' }),
  ).rejects.toThrow('a header that Tokenlane sets')
})

const clientSecret = 'p+ss w&rd"of<the>client/7'
const html = clientSecret
  .replaceAll('&', '&amp;')
  .replaceAll('<', '&lt;')
  .replaceAll('>', '&gt;')
  .replaceAll('"', '&quot;')
const base64 = Buffer.from(`client-1:${clientSecret}`).toString('base64')

test.each(['error', 'error_description', 'detail', 'title', 'message'])(
  'no form of a secret that a server sends back in `%s` is shown',
  async (member) => {
    const echoes: readonly string[] = [
      clientSecret,
      encodeURIComponent(clientSecret),
      new URLSearchParams({ client_secret: clientSecret }).toString(),
      html,
      JSON.stringify(clientSecret),
      base64,
      base64.replaceAll('=', ''),
      Buffer.from(`client-1:${clientSecret}`).toString('base64url'),
      Buffer.from(clientSecret).toString('base64'),
      Buffer.from(`grant_type=client_credentials&client_secret=${clientSecret}`).toString('base64'),
      Buffer.from(new URLSearchParams({ client_secret: clientSecret }).toString()).toString('base64'),
    ]
    for (const form of echoes) {
      answer = json({ error: 'invalid_client', [member]: form }, 400)
      const { outcome } = await ask({ credentials: { clientId: 'client-1', clientSecret }, maxWait: 1_000 })
      const shown = JSON.stringify(outcome)
      for (const secret of [form, 'p+ss w&rd', 'of<the>', 'w%26rd', 'w&amp;rd', base64.slice(12, 24)])
        expect(shown).not.toContain(secret)
    }
  },
)

test('a token endpoint may have a query (Azure AD B2C, Apigee)', async () => {
  answer = json({ access_token: 'a', token_type: 'Bearer', expires_in: 60 })
  const tokenEndpoint = `${server.url}/token?p=b2c_1_policy`
  expect((await ask({ tokenEndpoint })).outcome).toMatchObject({ value: 'a' })
  expect(forms[0]).toMatch(/^\/token\?p=b2c_1_policy grant_type=/)
  for (const part of ['#part', '?client_secret=secret-1', '?a=b&client_assertion=c'])
    await expect(ask({ tokenEndpoint: `${server.url}/token${part}` })).rejects.toThrow('with a user name')
})
