import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { exportJWK, exportPKCS8, generateKeyPair, decodeJwt, decodeProtectedHeader } from 'jose'
import { afterEach, expect, test, vi } from 'vitest'
import { createTokenManager, oauthIssuer, type IssuerOptions } from '../index.ts'

afterEach(() => vi.useRealTimers())

const tokenEndpoint = 'https://auth.example.com/token'

interface Sent {
  readonly headers: Headers
  readonly form: URLSearchParams
}

type Answer = () => Response
const issued: Answer = () => Response.json({ access_token: 'a', token_type: 'Bearer' })
const refused: Answer = () => Response.json({ error: 'invalid_client' }, { status: 401 })

/** What is sent with these options, and what comes of it. */
async function ask(
  issuer: Partial<IssuerOptions>,
  answers: readonly Answer[] = [issued],
  metadata?: object,
): Promise<{ sent: Sent[]; message: string | undefined }> {
  const sent: Sent[] = []
  const tokens = createTokenManager({
    issuers: {
      partner: oauthIssuer({
        ...(metadata ? {} : { tokenEndpoint }),
        ...issuer,
      } as IssuerOptions),
    },
    apis: [],
    async fetch(url, { headers, body }) {
      if (url.includes('/.well-known/')) return Response.json(metadata)
      sent.push({ headers: new Headers(headers), form: body })
      return (answers[sent.length - 1] ?? issued)()
    },
  })
  const message = await tokens.getToken('partner').then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { sent, message }
}

const clientSecretBasic = (clientId: string, clientSecret: string): Partial<IssuerOptions> => ({
  clientAuthentication: 'client_secret_basic',
  credentials: { clientId, clientSecret },
})

test.each([
  ['a UUID and a base64url secret', '0b5e3e5c-8d5a-4a52-9b57-1f0f6a1f2f3d', 'aZ0-_.*', 'aZ0-_.*'],
  ['reserved characters', 'my client:1', 'a+b/c=%&~!', 'a%2Bb%2Fc%3D%25%26%7E%21'],
  ['characters beyond ASCII', 'müller', '£', '%C2%A3'],
])('the header has %s as a form has them', async (_what, clientId, clientSecret, encoded) => {
  const { sent } = await ask(clientSecretBasic(clientId, clientSecret))
  const [scheme, credentials = ''] = sent[0]?.headers.get('authorization')?.split(' ') ?? []
  expect(scheme).toBe('Basic')
  const id = new URLSearchParams([['', clientId]]).toString().slice(1)
  expect(atob(credentials)).toBe(`${id}:${encoded}`)
  expect([...(sent[0]?.form.keys() ?? [])]).toEqual(['grant_type'])
})

test('a refused client is told that some servers do not form-decode, where its id or secret is sent encoded', async () => {
  const hint = 'some servers do not form-decode'
  expect((await ask(clientSecretBasic('client-1', 'secret_1.*'), [refused])).message).not.toContain(hint)
  for (const basic of [clientSecretBasic('client 1', 'secret'), clientSecretBasic('client', 'secret+/=')]) {
    const { message } = await ask(basic, [refused])
    expect(message).toContain(hint)
    expect(message).toContain('client_secret_post')
    expect(message).not.toContain('secret+')
  }
  const form = { credentials: { clientId: 'client', clientSecret: 'secret+/=' } }
  expect((await ask(form, [refused])).message).not.toContain(hint)
})

const byKey = (credentials: object, more: object = {}): Partial<IssuerOptions> =>
  ({
    clientAuthentication: 'private_key_jwt',
    credentials: { clientId: 'client-1', ...credentials },
    ...more,
  }) as never

const assertionOf = ({ sent }: { readonly sent: readonly Sent[] }): string =>
  sent.at(-1)?.form.get('client_assertion') ?? ''
const algorithmOf = (asked: { readonly sent: readonly Sent[] }): unknown =>
  decodeProtectedHeader(assertionOf(asked)).alg

test('an Ed25519 key signs by the name that is asked for: EdDSA or Ed25519', async () => {
  const { privateKey } = await generateKeyPair('Ed25519', { extractable: true })
  const pem = await exportPKCS8(privateKey)
  const jwk = await exportJWK(privateKey)
  expect(algorithmOf(await ask(byKey({ privateKey: pem })))).toBe('Ed25519')
  expect(algorithmOf(await ask(byKey({ privateKey: pem, algorithm: 'EdDSA' })))).toBe('EdDSA')
  expect(algorithmOf(await ask(byKey({ privateKey, algorithm: 'EdDSA' })))).toBe('EdDSA')
  expect(algorithmOf(await ask(byKey({ privateKey: { ...jwk, alg: 'EdDSA' } })))).toBe('EdDSA')
  expect(algorithmOf(await ask(byKey({ privateKey: { ...jwk, alg: 'Ed25519' } })))).toBe('Ed25519')
  expect(algorithmOf(await ask(byKey({ privateKey: { ...jwk, alg: 'EdDSA' }, algorithm: 'Ed25519' })))).toBe(
    'Ed25519',
  )
})

test('an Ed25519 key without a name signs by the one that the metadata of the server has', async () => {
  const { privateKey } = await generateKeyPair('Ed25519', { extractable: true })
  const issuer = 'https://auth.example.com'
  const key = byKey({ privateKey: await exportPKCS8(privateKey) }, { issuer })
  const supporting = (names: readonly string[]): object => ({
    issuer,
    token_endpoint: tokenEndpoint,
    token_endpoint_auth_signing_alg_values_supported: names,
  })
  expect(algorithmOf(await ask(key, [issued], supporting(['RS256', 'EdDSA'])))).toBe('EdDSA')
  expect(algorithmOf(await ask(key, [issued], supporting(['EdDSA', 'Ed25519'])))).toBe('Ed25519')
})

test('a CryptoKey of another kind than its algorithm is said to be unreadable', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  const { message } = await ask(byKey({ privateKey, algorithm: 'RS256' }))
  expect(message).toContain('the private key cannot be read as one for RS256')
})

test.each([
  ['a key in PEM', (key: KeyObject) => ({ privateKey: pemOf(key), algorithm: 'ES256' })],
  [
    'a JSON Web Key',
    (key: KeyObject) => ({ privateKey: { ...key.export({ format: 'jwk' }), alg: 'ES256' } }),
  ],
])('%s of another kind than its algorithm is refused with the options', async (_what, credentials) => {
  await expect(ask(byKey(credentials(rsa)))).rejects.toThrow(
    '`issuers.partner.credentials.privateKey` is a key of another kind than its algorithm; allowed: one for ES256',
  )
})

test('a JSON Web Key names itself by its `kid`, unless `keyId` does', async () => {
  const privateKey = { ...rsa.export({ format: 'jwk' }), kid: 'of-the-key' }
  const kidOf = async (credentials: object): Promise<unknown> =>
    decodeProtectedHeader(assertionOf(await ask(byKey(credentials)))).kid
  expect(await kidOf({ privateKey })).toBe('of-the-key')
  expect(await kidOf({ privateKey, keyId: 'of-the-client' })).toBe('of-the-client')
  expect(await kidOf({ privateKey: pemOf(rsa) })).toBeUndefined()
})

test('an RSA key without a name signs by an algorithm that the metadata lists', async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const issuer = 'https://auth.example.com'
  const key = byKey({ privateKey: await exportPKCS8(privateKey) }, { issuer })
  const listing = (listed: unknown): object => ({
    issuer,
    token_endpoint: tokenEndpoint,
    token_endpoint_auth_signing_alg_values_supported: listed,
  })
  for (const [listed, algorithm] of [
    [['PS256', 'PS384'], 'PS256'],
    [['ES256', 'RS512'], 'RS512'],
    [['ES256'], 'RS256'],
    ['PS256', 'RS256'],
  ])
    expect(algorithmOf(await ask(key, [issued], listing(listed)))).toBe(algorithm)
})

test('a key whose line breaks are backslashes, as in an environment variable, is read', async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const inOneLine = (await exportPKCS8(privateKey)).replaceAll('\n', String.raw`\n`)
  expect(algorithmOf(await ask(byKey({ privateKey: inOneLine })))).toBe('ES256')
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
const pemOf = (key: KeyObject, more?: object): string =>
  key.export({ type: 'pkcs8', format: 'pem', ...more }) as string
const whole = pemOf(rsa)
const kindOf = (kind: string, options: object): string =>
  pemOf((generateKeyPairSync as (...args: unknown[]) => { privateKey: KeyObject })(kind, options).privateKey)

test.each<[string, string | object, string]>([
  ['of fewer than 2048 bits', kindOf('rsa', { modulusLength: 1_024 }), 'is shorter than 2048 bits'],
  ['for RSA-PSS alone', kindOf('rsa-pss', { modulusLength: 2_048 }), 'is a key of another kind'],
  ['of another curve', kindOf('ec', { namedCurve: 'secp256k1' }), 'is a key of another kind'],
  ['that signs nothing', kindOf('x25519', {}), 'is a key of another kind'],
  ['with a part cut out', whole.slice(0, 400) + whole.slice(500), 'is a key that cannot be read'],
  ['with a character that is not Base64', whole.replace('M', '\u00A0'), 'is a key that cannot be read'],
  ['that is cut off', whole.slice(0, 600), 'is a string in another format (PEM that is cut off)'],
  ['in Base64 (appwrite#7732)', btoa(whole), 'is a string in another format (Base64 of PEM)'],
  ['in JSON', JSON.stringify(rsa.export({ format: 'jwk' })), 'is a string in another format (JSON: '],
  [
    'that is encrypted (box-node-sdk#259)',
    pemOf(rsa, { cipher: 'aes-256-cbc', passphrase: 'secret' }),
    'is a string in another format (ENCRYPTED PRIVATE KEY)',
  ],
  [
    'of a JSON Web Key without a modulus',
    { kty: 'RSA', d: 'AQAB', e: 'AQAB' },
    'is a key that cannot be read',
  ],
])('a key %s is refused with the options', async (_what, privateKey, reason) => {
  await expect(ask(byKey({ privateKey }))).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
    message: expect.stringContaining(`\`issuers.partner.credentials.privateKey\` ${reason}`) as string,
  })
})

test('a CryptoKey that cannot sign is refused with the options', async () => {
  const { publicKey } = await generateKeyPair('ES256')
  await expect(ask(byKey({ privateKey: publicKey }))).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
    message: expect.stringContaining('`issuers.partner.credentials.privateKey` is a CryptoKey') as string,
  })
})

test('the audience of an assertion can be named', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  const issuer = 'https://auth.example.com'
  const metadata = { issuer, token_endpoint: tokenEndpoint }
  const audienceOf = async (options: object): Promise<unknown> =>
    decodeJwt(
      assertionOf(
        await ask(byKey({ privateKey }, options), [issued], 'issuer' in options ? metadata : undefined),
      ),
    ).aud
  expect(await audienceOf({})).toBe(tokenEndpoint)
  expect(await audienceOf({ issuer })).toBe(issuer)
  expect(await audienceOf({ issuer, assertionAudience: tokenEndpoint })).toBe(tokenEndpoint)
  expect(await audienceOf({ assertionAudience: issuer })).toBe(issuer)
})

test.each([0.04, 1, 4.9])(
  'an issuer whose clock is %d s behind, and that allows for nothing, takes an assertion (bluesky-social/atproto#4474)',
  async (behind) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 21), toFake: ['Date'] })
    const { privateKey } = await generateKeyPair('ES256')
    const asked = await ask(byKey({ privateKey }))
    const { iat = 0, nbf = 0, exp = 0 } = decodeJwt(assertionOf(asked))
    expect(Math.max(iat, nbf) * 1_000).toBeLessThanOrEqual(Date.now() - behind * 1_000)
    // some take none that lives for more than a minute
    expect(exp - iat).toBe(60)
  },
)

test.each([
  ['an hour', 3_600_000, 2],
  ['a day and a minute', 86_460_000, 1],
  ['a century', 3_155_692_600_000, 1],
])('an issuer whose Date is %s ahead moves assertions by a day at most', async (_what, ahead, requests) => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21), toFake: ['Date'] })
  const { privateKey } = await generateKeyPair('ES256')
  const date = new Date(Date.now() + ahead).toUTCString()
  const tooLate = (): Response =>
    Response.json({ error: 'invalid_client' }, { status: 401, headers: { date } })
  const asked = await ask(byKey({ privateKey }), [tooLate])
  expect(asked.sent).toHaveLength(requests)
  const { iat = 0 } = decodeJwt(assertionOf(asked))
  expect(Math.abs(iat * 1_000 - Date.now())).toBeLessThanOrEqual(86_400_000)
})
