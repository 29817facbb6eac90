import { generateKeyPairSync, sign } from 'node:crypto'
import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnsecuredJWT } from 'jose'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTokenManager, envCredentials, oauthIssuer } from '../index.ts'
import type { ClientCredentials, CredentialsSource, IssuerOptions, TokenlaneEvent } from '../index.ts'
import { inspectionOf } from '../adapter.ts'
import { fileAssertion, fileCredentials } from '../node.ts'

const now = Date.UTC(2026, 10, 21)
const tokenEndpoint = 'https://auth.example.com/token'
const secret = { clientId: 'client-1', clientSecret: 'secret-1' }
let folder: string

beforeEach(() => {
  vi.useFakeTimers({ now })
  folder = mkdtempSync(join(tmpdir(), 'assertion-'))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
let made = 0

/** A new assertion, as a cluster signs it. */
function assertion(claims: { aud?: string | string[]; exp?: number } = {}): string {
  made += 1
  const { aud = tokenEndpoint, exp = Math.floor(Date.now() / 1_000) + 600 } = claims
  const iss = 'https://cluster.example.com'
  const sub = 'system:serviceaccount:shop:orders'
  const parts = [
    { alg: 'ES256', kid: 'cluster-1' },
    { iss, sub, aud, exp, jti: `jti-${made}` },
  ]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

type Answer = (form: URLSearchParams) => Response | Error
const issued: Answer = () =>
  Response.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
const refused: Answer = () => Response.json({ error: 'invalid_client' }, { status: 401 })

/** A manager with one issuer, and what it sends. */
function service(
  credentials: CredentialsSource<ClientCredentials>,
  {
    answer = issued,
    metadata,
    ...options
  }: Partial<IssuerOptions> & { answer?: Answer; metadata?: object } = {},
) {
  const sent: URLSearchParams[] = []
  const events: TokenlaneEvent[] = []
  const state = { answer }
  const tokens = createTokenManager({
    issuers: {
      partner: oauthIssuer({
        ...(metadata ? {} : { tokenEndpoint }),
        ...options,
        credentials,
      } as IssuerOptions),
    },
    apis: [],
    observe: (event) => events.push(event),
    async fetch(url, { body }) {
      if (url.includes('/.well-known/')) return Response.json(metadata)
      sent.push(body)
      const response = state.answer(body)
      if (response instanceof Error) throw response
      return response
    },
  })
  const obtain = async (): Promise<string> => {
    const outcome = tokens.getToken('partner').then(
      ({ value }) => value,
      ({ code, message }: Error & { code: string }) => `${code} ${message}`,
    )
    const flight = { settled: false }
    void outcome.finally(() => (flight.settled = true))
    while (!flight.settled) await vi.advanceTimersByTimeAsync(250)
    return outcome
  }
  return { sent, events, state, tokens, obtain }
}

const proofsOf = (sent: readonly URLSearchParams[]): string[] =>
  sent.map((form) =>
    form.has('client_assertion') ? 'assertion' : form.has('client_secret') ? 'secret' : 'header',
  )

test('an assertion is asked for with its audience, and sent with the id of the client and its type', async () => {
  const given = assertion()
  const asked: string[] = []
  const { sent, obtain } = service({
    clientId: 'client-1',
    assertion({ audience, signal }) {
      asked.push(`${audience} ${signal.aborted}`)
      return given
    },
  })
  expect(await obtain()).toBe('token-1')
  expect(asked).toEqual([`${tokenEndpoint} false`])
  expect(Object.fromEntries(sent[0] ?? [])).toEqual({
    grant_type: 'client_credentials',
    client_id: 'client-1',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: given,
  })
})

test.each([
  ['jwt-spiffe', 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe'],
  ['urn:example:jwt', 'urn:example:jwt'],
])('the type %s is sent as %s', async (assertionType, expected) => {
  const { sent, obtain } = service({ clientId: 'client-1', assertion: () => assertion(), assertionType })
  await obtain()
  expect(sent[0]?.get('client_assertion_type')).toBe(expected)
})

test.each([
  ['the token endpoint', {}, tokenEndpoint],
  [
    'what the options name',
    { assertionAudience: 'api://AzureADTokenExchange' },
    'api://AzureADTokenExchange',
  ],
  [
    'the issuer of the metadata',
    {
      issuer: 'https://auth.example.com',
      metadata: { issuer: 'https://auth.example.com', token_endpoint: tokenEndpoint },
    },
    'https://auth.example.com',
  ],
])('the audience is %s', async (_what, options, expected) => {
  const asked: string[] = []
  const { obtain } = service(
    {
      clientId: 'client-1',
      assertion({ audience }) {
        asked.push(audience)
        return assertion({ aud: audience })
      },
    },
    options,
  )
  expect(await obtain()).toBe('token-1')
  expect(asked).toEqual([expected])
})

const inSeconds = now / 1_000

test.each<[string, () => unknown, string]>([
  ['not a JWT', () => 'secret-1', 'the assertion is not a JWT'],
  ['two parts of a JWT', () => 'eyJhIjoxfQ.eyJhIjoxfQ', 'the assertion is not a JWT'],
  ['nothing', () => undefined, 'the assertion function returned nothing'],
  ['an object', () => ({}), 'the assertion function returned an object'],
  [
    'what has just expired',
    () => new UnsecuredJWT({ exp: inSeconds }).encode(),
    'the assertion expired at 2026-11-21T00:00:00.000Z',
  ],
  [
    'what is for another server',
    () => assertion({ aud: ['https://other.example.com', 'api://AzureADTokenExchange'] }),
    `the assertion has the wrong audience (https://other.example.com, api://AzureADTokenExchange): request it for ${tokenEndpoint}, or set \`assertionAudience\``,
  ],
  [
    'an error',
    () => raise(new TypeError('secret-1')),
    'the assertion function failed with TypeError; its error is hidden',
  ],
])('%s is not sent, and named', async (_what, given, reason) => {
  const { sent, obtain } = service({ clientId: 'client-1', assertion: given as () => string })
  const message = await obtain()
  expect(message).toContain(
    'CREDENTIALS_UNAVAILABLE Cannot obtain token: no credentials for issuer "partner": ',
  )
  expect(message).toContain(reason)
  expect(message).not.toContain('secret-1')
  expect(sent).toHaveLength(0)
})

test.each([
  ['one millisecond before it expires', () => new UnsecuredJWT({ exp: inSeconds + 0.001 }).encode()],
  ['without an expiry and an audience', () => new UnsecuredJWT({}).encode()],
  [
    'for several audiences, this server among them',
    () => assertion({ aud: ['https://other.example.com', tokenEndpoint] }),
  ],
  ['that is encrypted', () => 'eyJhbGciOiJkaXIifQ..a.b.c'],
])('an assertion is sent %s', async (_what, given) => {
  const { sent, obtain } = service({ clientId: 'client-1', assertion: given })
  expect(await obtain()).toBe('token-1')
  expect(sent).toHaveLength(1)
})

test('an error about an assertion has the properties of every error, and no others', async () => {
  const { tokens } = service({ clientId: 'client-1', assertion: () => assertion({ aud: 'other' }) })
  const error: unknown = await tokens.getToken('partner').catch((reason: unknown) => reason)
  expect(Object.keys(error as object).toSorted()).toEqual(['code', 'definite', 'issuer', 'name'])
})

test('a SAML assertion is sent as it is', async () => {
  const { obtain } = service({
    clientId: 'client-1',
    assertion: () => 'PHNhbWw-',
    assertionType: 'saml2-bearer',
  })
  expect(await obtain()).toBe('token-1')
})

test('an assertion function that hangs ends with the token request', async () => {
  const { obtain, sent } = service(
    { clientId: 'client-1', assertion: () => new Promise(() => {}) },
    { maxWait: 2_000 },
  )
  expect(await obtain()).toMatch(/TIMEOUT|did not respond in time/)
  expect(sent).toHaveLength(0)
})

test('each token request has an assertion of its own, also after failures of the network, so that no `jti` goes out twice', async () => {
  const { sent, state, obtain } = service({ clientId: 'client-1', assertion: () => assertion() })
  let failures = 3
  state.answer = (form) => ((failures -= 1) >= 0 ? new TypeError('fetch failed') : issued(form))
  expect(await obtain()).toBe('token-1')
  const assertions = sent.map((form) => form.get('client_assertion'))
  expect(assertions).toHaveLength(4)
  expect(new Set(assertions).size).toBe(4)
})

test('a refusal is remembered for the client and its kind of proof, though every assertion is another one', async () => {
  // a provider makes its function anew each time
  const { sent, events, obtain } = service(
    async () => ({ clientId: 'client-1', assertion: () => assertion() }),
    { answer: refused },
  )
  for (let call = 0; call < 100; call += 1) expect(await obtain()).toContain('TOKEN_REQUEST_REFUSED')
  // in 25 s: at once, within 2 s and within 6 s more
  expect(sent).toHaveLength(3)
  expect(events.filter(({ type }) => type === 'renewal.failed')).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await obtain()).toContain('check the client id and assertion in `issuers.partner.credentials`')
  expect(sent).toHaveLength(4)
})

test('an assertion file that is replaced right after its refusal is tried at once', async () => {
  const file = join(folder, 'token')
  writeFileSync(file, assertion())
  const { sent, state, obtain } = service(
    { clientId: 'client-1', assertion: fileAssertion(file) },
    { answer: refused },
  )
  expect(await obtain()).toContain('TOKEN_REQUEST_REFUSED')
  expect(await obtain()).toContain('TOKEN_REQUEST_REFUSED')
  expect(sent).toHaveLength(1)
  state.answer = issued
  writeFileSync(file, `${assertion()}\n`)
  expect(await obtain()).toBe('token-1')
})

test('an assertion file of more than 1 MiB is not read', async () => {
  const file = join(folder, 'token')
  writeFileSync(file, Buffer.alloc(1_048_577, 'a'))
  const { sent, obtain } = service({ clientId: 'client-1', assertion: fileAssertion(file) }, { maxWait: 1 })
  expect(await obtain()).toContain('has more than 1 MiB')
  expect(sent).toHaveLength(0)
})

test('two files of one client are two proofs', async () => {
  const files = ['old', 'new'].map((name) => join(folder, name))
  for (const file of files) writeFileSync(file, assertion())
  const lists = files.map((file) => ({ clientId: 'client-1', assertion: fileAssertion(file) }))
  const first = readFileSync(files[0] as string, 'utf8')
  const { tokens, sent } = service(lists, {
    answer: (form) => (form.get('client_assertion') === first ? refused(form) : issued(form)),
  })
  await tokens.getToken('partner')
  expect(sent).toHaveLength(2)
})

test('a list of a secret and an assertion moves from one to the other in the flight that is refused, and back', async () => {
  const { sent, state, events, obtain } = service([
    secret,
    { clientId: 'client-1', assertion: () => assertion() },
  ])
  const accept = (kind: 'client_secret' | 'client_assertion'): void => {
    state.answer = (form) => (form.has(kind) ? issued(form) : refused(form))
  }
  const renewed = async (): Promise<string> => {
    await vi.advanceTimersByTimeAsync(3_600_000)
    return obtain()
  }
  expect(await obtain()).toBe('token-1')
  accept('client_assertion')
  expect(await renewed()).toBe('token-1')
  expect(await renewed()).toBe('token-1')
  accept('client_secret')
  expect(await renewed()).toBe('token-1')
  expect(proofsOf(sent)).toEqual(['secret', 'secret', 'assertion', 'assertion', 'assertion', 'secret'])
  expect(events.filter(({ type }) => type === 'credentials.rotated')).toHaveLength(2)
})

test('`clientAuthentication` says how secrets are sent, and nothing of the other clients in a list', async () => {
  const { sent, state, obtain } = service([secret, { clientId: 'client-1', assertion: () => assertion() }], {
    clientAuthentication: 'client_secret_basic',
  })
  state.answer = (form) => (form.has('client_assertion') ? issued(form) : refused(form))
  expect(await obtain()).toBe('token-1')
  expect(proofsOf(sent)).toEqual(['header', 'assertion'])
})

test('a client whose assertion is not there leaves the turn to the next, and is asked again at the next renewal', async () => {
  const path = join(folder, 'token')
  const { sent, obtain } = service([{ clientId: 'client-1', assertion: fileAssertion(path) }, secret])
  expect(await obtain()).toBe('token-1')
  writeFileSync(path, assertion({ exp: inSeconds + 7_200 }))
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(await obtain()).toBe('token-1')
  // what worked last goes first
  expect(proofsOf(sent)).toEqual(['secret', 'secret'])
})

test('a file that is replaced by a swapped link is read at each try, and one that is missing is waited for', async () => {
  const path = join(folder, 'token')
  const { sent, obtain } = service({ clientId: 'client-1', assertion: fileAssertion(path) })
  const first = assertion()
  const missing = obtain()
  setTimeout(() => writeFileSync(join(folder, 'first'), first), 1_000)
  setTimeout(() => symlinkSync('first', path), 1_000)
  expect(await missing).toBe('token-1')
  const second = assertion({ exp: inSeconds + 10_000 })
  writeFileSync(join(folder, 'second'), `${second}\n`)
  symlinkSync('second', join(folder, 'swap'))
  renameSync(join(folder, 'swap'), path)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(await obtain()).toBe('token-1')
  expect(sent.map((form) => form.get('client_assertion'))).toEqual([first, second])
  unlinkSync(path)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(await obtain()).toContain(`the file ${path} is missing`)
})

test('the variables of an issuer name the file, also beside a secret', async () => {
  const path = join(folder, 'token')
  writeFileSync(path, assertion())
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  vi.stubEnv('SHOP_ASSERTION_FILE', path)
  const alone = service(envCredentials('SHOP'))
  expect(await alone.obtain()).toBe('token-1')
  vi.stubEnv('SHOP_CLIENT_SECRET', 'secret-1')
  const both = service(envCredentials('SHOP'))
  both.state.answer = (form) => (form.has('client_assertion') ? issued(form) : refused(form))
  expect(await both.obtain()).toBe('token-1')
  // what is cleared counts as removed
  vi.stubEnv('SHOP_CLIENT_SECRET', '')
  await vi.advanceTimersByTimeAsync(3_600_000)
  writeFileSync(path, assertion())
  expect(await both.obtain()).toBe('token-1')
  expect(proofsOf([...alone.sent, ...both.sent])).toEqual(['assertion', 'secret', 'assertion', 'assertion'])
})

test('a JSON file and a folder can name the file, too', async () => {
  const path = join(folder, 'token')
  writeFileSync(path, assertion())
  const json = join(folder, 'credentials.json')
  writeFileSync(
    json,
    JSON.stringify([secret, { clientId: 'client-1', assertionFile: path, assertionType: 'jwt-spiffe' }]),
  )
  const fromJson = service(fileCredentials(json))
  fromJson.state.answer = (form) => (form.has('client_assertion') ? issued(form) : refused(form))
  expect(await fromJson.obtain()).toBe('token-1')
  writeFileSync(join(folder, 'clientId'), 'client-1\n')
  writeFileSync(join(folder, 'assertionFile'), `${path}\n`)
  const fromFolder = service(fileCredentials(folder))
  expect(await fromFolder.obtain()).toBe('token-1')
  expect(proofsOf([...fromJson.sent, ...fromFolder.sent])).toEqual(['secret', 'assertion', 'assertion'])
})

test('an issuer that takes secrets alone says who takes an assertion', () => {
  expect(() =>
    createTokenManager({
      issuers: { partner: { tokenEndpoint, credentials: { clientId: 'client-1', assertion: () => '' } } },
      apis: [],
    }),
  ).toThrow(/`issuers\.partner\.credentials\.assertion` is not an option/)
})

test('the clock of the issuer counts after a refusal: what has expired there is not sent again', async () => {
  const date = new Date(now + 3_600_000).toUTCString()
  const late: Answer = () => Response.json({ error: 'invalid_client' }, { status: 401, headers: { date } })
  const { sent, obtain } = service({ clientId: 'client-1', assertion: () => assertion() }, { answer: late })
  expect(await obtain()).toContain('TOKEN_REQUEST_REFUSED')
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await obtain()).toContain('CREDENTIALS_UNAVAILABLE')
  expect(sent).toHaveLength(1)
})

test('a tool is told which client has an assertion, where it is read, and why it was not sent', async () => {
  const path = join(folder, 'token')
  writeFileSync(path, assertion({ aud: 'https://other.example.com' }))
  const { tokens, obtain, sent } = service([secret, { clientId: 'client-1', assertion: fileAssertion(path) }])
  await obtain()
  expect(await inspectionOf(tokens)?.clients('partner')).toEqual([
    { clientId: 'client-1' },
    { clientId: 'client-1', assertion: { path } },
  ])
  const clients = await inspectionOf(tokens)?.tryClients('partner')
  expect(clients).toMatchObject([
    { outcome: 'accepted' },
    {
      outcome: 'unknown',
      assertion: { path },
      fault: expect.stringContaining('has the wrong audience') as string,
    },
  ])
  expect(clients?.[0]).not.toHaveProperty('assertion')
  writeFileSync(path, assertion())
  expect(await inspectionOf(tokens)?.tryClients('partner')).toMatchObject([{}, { outcome: 'accepted' }])
  expect(proofsOf(sent)).toEqual(['secret', 'assertion'])
})

function raise(error: unknown): never {
  throw error
}
