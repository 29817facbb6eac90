import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createTokenManager,
  oauthIssuer,
  type ClientCredentials,
  type IssuerOptions,
  type PrivateKeyCredentials,
  type TokenlaneEvent,
  type TokenManager,
} from '../../src/index.ts'
import { fileCredentials } from '../../src/node.ts'
import { pkcs12 } from '../pkcs12.ts'
import { useOidcProvider } from './start.ts'

const server = useOidcProvider()
afterEach(() => vi.useRealTimers())

const grant = { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] }
const resource = { resource: 'https://api.example.com/reports' }

function managerOf(issuer: Partial<IssuerOptions>): { tokens: TokenManager; events: TokenlaneEvent[] } {
  const events: TokenlaneEvent[] = []
  const tokens = createTokenManager({
    issuers: {
      server: oauthIssuer({ issuer: server.issuer, parameters: resource, ...issuer } as IssuerOptions),
    },
    apis: [],
    observe: (event) => events.push(event),
  })
  return { tokens, events }
}

/** The claims of the token that an issuer gives. */
async function claimsFrom(issuer: Partial<IssuerOptions>): Promise<Record<string, unknown>> {
  const { value } = await managerOf(issuer).tokens.getToken('server')
  return JSON.parse(Buffer.from(value.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
}

const secrets = { clientId: 'by secret:+%/', clientSecret: 'a secret:+%&=/"' }

test.each(['client_secret_post', 'client_secret_basic'] as const)(
  '%s takes an id and a secret of any characters',
  async (method) => {
    const { clientId: client_id, clientSecret: client_secret } = secrets
    await server.register([{ ...grant, client_id, client_secret, token_endpoint_auth_method: method }])
    expect(await claimsFrom({ clientAuthentication: method, credentials: secrets })).toMatchObject({
      client_id,
      aud: resource.resource,
    })
    const wrong = { ...secrets, clientSecret: 'wrong' }
    await expect(claimsFrom({ clientAuthentication: method, credentials: wrong })).rejects.toMatchObject({
      code: 'TOKEN_REQUEST_REFUSED',
      oauthError: 'invalid_client',
    })
  },
)

interface Signer {
  readonly credentials: PrivateKeyCredentials
  readonly registration: Parameters<typeof server.register>[0][number]
}

async function signer(algorithm: string, form: 'pem' | 'jwk' | 'key', keyId = 'key-1'): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: form !== 'key' })
  const forms = {
    pem: () => exportPKCS8(privateKey),
    jwk: async () => ({ ...(await exportJWK(privateKey)), alg: algorithm, use: 'sig', kid: keyId }),
    key: async () => privateKey,
  }
  const jwk = { ...(await exportJWK(publicKey)), kid: keyId, use: 'sig' }
  return {
    credentials: { clientId: 'by key', privateKey: await forms[form](), keyId },
    registration: {
      ...grant,
      client_id: 'by key',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    },
  }
}

const byKey = (credentials: IssuerOptions['credentials']): Partial<IssuerOptions> => ({
  clientAuthentication: 'private_key_jwt',
  credentials,
})

test.each([
  ['RS256', 'pem'],
  ['ES256', 'pem'],
  ['Ed25519', 'pem'],
  ['PS256', 'jwk'],
  ['ES256', 'jwk'],
  ['EdDSA', 'jwk'],
  ['RS256', 'key'],
] as const)('private_key_jwt signs by %s with a key as %s', async (algorithm, form) => {
  const { credentials, registration } = await signer(algorithm, form)
  await server.register([registration])
  expect(await claimsFrom(byKey(credentials))).toMatchObject({ client_id: 'by key' })
  // without metadata, the token endpoint is the assertion's audience
  const tokens = createTokenManager({
    issuers: {
      server: oauthIssuer({
        tokenEndpoint: `${server.issuer}/token`,
        parameters: resource,
        ...byKey(credentials),
      } as IssuerOptions),
    },
    apis: [],
  })
  await expect(tokens.getToken('server')).resolves.toBeDefined()
})

test('an assertion for the token endpoint is taken where that audience is named', async () => {
  const { credentials, registration } = await signer('ES256', 'pem')
  await server.register([registration])
  const assertionAudience = `${server.issuer}/token`
  expect(await claimsFrom({ ...byKey(credentials), assertionAudience })).toMatchObject({
    client_id: 'by key',
  })
  await expect(
    claimsFrom({ ...byKey(credentials), assertionAudience: 'https://elsewhere.example.com' }),
  ).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', oauthError: 'invalid_client' })
})

test('a key that the server does not know is refused, and the next one is tried', async () => {
  const [wrong, right] = [await signer('ES256', 'pem'), await signer('ES256', 'pem')]
  await server.register([right.registration])
  await expect(claimsFrom(byKey(wrong.credentials))).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  await expect(claimsFrom(byKey([wrong.credentials, right.credentials]))).resolves.toBeDefined()
})

test('a key of another kind than its algorithm is refused at the start', async () => {
  const { credentials } = await signer('ES256', 'pem')
  expect(() => managerOf(byKey({ ...credentials, algorithm: 'RS256' }))).toThrow(
    'privateKey` is a key of another kind than its algorithm; allowed: one for RS256',
  )
})

test.each([
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
])(
  'an assertion of a clock that is %s is refused once, and made anew by the server\u2019s Date',
  async (_what, off) => {
    const { credentials, registration } = await signer('ES256', 'pem')
    await server.register([registration])
    const refused = vi.fn<(status: number) => void>()
    const fetch: typeof globalThis.fetch = async (to, init) => {
      const response = await globalThis.fetch(to, init)
      if (response.status >= 400) refused(response.status)
      return response
    }
    vi.useFakeTimers({ now: Date.now() + off, toFake: ['Date'] })
    const tokens = createTokenManager({
      issuers: {
        server: oauthIssuer({
          issuer: server.issuer,
          parameters: resource,
          ...byKey(credentials),
        } as IssuerOptions),
      },
      apis: [],
      fetch,
    })
    await expect(tokens.getToken('server')).resolves.toBeDefined()
    expect(refused).toHaveBeenCalledOnce()
    vi.setSystemTime(Date.now() + 3_000)
    await expect(tokens.getToken('server')).resolves.toBeDefined()
    expect(refused).toHaveBeenCalledOnce()
  },
)

describe('tls_client_auth', () => {
  const registration = {
    ...grant,
    client_id: 'by certificate',
    token_endpoint_auth_method: 'tls_client_auth' as const,
    tls_client_auth_subject_dn: 'CN=reports',
  }
  const by = (credentials: unknown): Partial<IssuerOptions> => ({
    clientAuthentication: 'tls_client_auth',
    credentials: credentials as ClientCredentials,
  })
  const passphrase = 'open-sesame'
  type Pair = Awaited<ReturnType<typeof server.certificate>>

  test.each<[string, (pair: Pair) => object]>([
    ['as PEM text', ({ cert, key }) => ({ certificate: cert, privateKey: key })],
    [
      'with an encrypted key',
      ({ cert, key }) => {
        const cipher = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase } as const
        return { certificate: cert, privateKey: createPrivateKey(key).export(cipher), passphrase }
      },
    ],
    ['as a PKCS#12 file', ({ cert, key }) => ({ pfx: pkcs12([cert, key], passphrase), passphrase })],
    [
      'as a PKCS#12 file in Base64, without a passphrase',
      ({ cert, key }) => ({ pfx: pkcs12([cert, key], '').toString('base64') }),
    ],
  ])('shows the certificate at the endpoint\u2019s alias: %s', async (_what, form) => {
    await server.register([registration])
    const shown = async (pair: Pair) => claimsFrom(by({ clientId: 'by certificate', ...form(pair) }))
    expect(await shown(await server.certificate('reports'))).toMatchObject({ client_id: 'by certificate' })
    for (const other of [await server.certificate('others'), await server.certificate('reports', false)])
      await expect(shown(other)).rejects.toMatchObject({
        code: 'TOKEN_REQUEST_REFUSED',
        oauthError: 'invalid_client',
      })
  })

  test('a PKCS#12 file in a folder is read again when it is refused, and its next one is tried', async () => {
    await server.register([registration])
    const folder = mkdtempSync(join(tmpdir(), 'pfx-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content)
    const file = async (subject: string) => {
      const { cert, key } = await server.certificate(subject)
      return pkcs12([cert, key], passphrase)
    }
    put('clientId', 'by certificate')
    put('passphrase', `${passphrase}\n`)
    put('pfx', await file('others'))
    const issuer = by(fileCredentials(folder))
    await expect(claimsFrom(issuer)).rejects.toMatchObject({ oauthError: 'invalid_client' })
    put('pfxNext', await file('reports'))
    await expect(claimsFrom(issuer)).resolves.toMatchObject({ client_id: 'by certificate' })
    rmSync(join(folder, 'pfxNext'))
    const { tokens } = managerOf(issuer)
    await expect(tokens.getToken('server')).rejects.toMatchObject({ oauthError: 'invalid_client' })
    put('pfx', await file('reports'))
    await expect(tokens.getToken('server')).resolves.toBeDefined()
  })
})

test('a resource that the server does not know is invalid_target, at once and not about the client', async () => {
  const { credentials, registration } = await signer('ES256', 'pem')
  await server.register([registration])
  await expect(
    claimsFrom({ ...byKey(credentials), parameters: { resource: 'https://elsewhere.example.com' } }),
  ).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', oauthError: 'invalid_target' })
})

test('a token endpoint that moves is found by the metadata, and loses no call', async () => {
  const { credentials, registration } = await signer('ES256', 'pem')
  await server.register([registration])
  const { tokens, events } = managerOf(byKey(credentials))
  await tokens.getToken('server')
  await server.register([registration], '/moved/token')
  vi.useFakeTimers({ now: Date.now() + 3_000, toFake: ['Date'] })
  await expect(tokens.getToken('server')).resolves.toBeDefined()
  expect(events.filter(({ type }) => type === 'renewal.failed')).toEqual([])
})

test('keys that are rotated under load lose no call', async () => {
  const first = await signer('ES256', 'pem')
  let current = first.credentials
  await server.register([first.registration])
  const { tokens, events } = managerOf({ ...byKey(() => current), renewBefore: 0 })
  await tokens.warmUp()
  const running = new AbortController()
  const calls = Array.from({ length: 20 }, async () => {
    let made = 0
    for (; !running.signal.aborted; made += 1) {
      await tokens.getToken('server')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return made
  })
  for (let rotation = 2; rotation <= 4; rotation += 1) {
    const next = await signer('ES256', 'pem', `key-${rotation}`)
    // the server takes the new key alone, at the very moment when the token ends
    await server.register([next.registration])
    current = next.credentials
    const before = events.filter(({ type }) => type === 'token.renewed').length
    await vi.waitFor(() =>
      expect(events.filter(({ type }) => type === 'token.renewed').length).toBeGreaterThan(before),
    )
  }
  running.abort()
  expect((await Promise.all(calls)).every((made) => made > 10)).toBe(true)
  expect(events.filter(({ type }) => type === 'credentials.rotated')).toHaveLength(3)
})
