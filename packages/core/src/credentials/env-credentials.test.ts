import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acceptOnly, fakeService, refusal, secretsOf } from '../../test/fake-issuer.ts'
import { inspectionOf } from '../adapter.ts'
import { createTokenManager, oauthIssuer } from '../index.ts'
import { envCredentials } from './env-credentials.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

test('all variables that are missing are named at once, with the option that reads them', () => {
  const create = (): unknown => fakeService({ credentials: envCredentials('SHOP') })
  expect(create).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  expect(create).toThrow(
    'Missing environment variables: SHOP_CLIENT_ID, SHOP_CLIENT_SECRET (read by `issuers.general.credentials`)',
  )
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  expect(create).toThrow('Missing environment variable: SHOP_CLIENT_SECRET (read by')
})

test.each(['SHOP_', 'shop', 'shop_', 'SHOP_CLIENT_ID', 'SHOP_CLIENT_SECRET'])(
  'the prefix %s, where the variables begin with SHOP, is told the right one',
  (prefix) => {
    const create = (): unknown => fakeService({ credentials: envCredentials(prefix) })
    expect(create).not.toThrow('did you mean')
    vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
    expect(create).toThrow(
      `Missing environment variables: ${prefix}_CLIENT_ID, ${prefix}_CLIENT_SECRET (did you mean \`envCredentials('SHOP')\`?) (read by`,
    )
  },
)

test('a prefix that is empty is named, and no variable of that name', () => {
  expect(() => fakeService({ credentials: envCredentials('') })).toThrow(
    'Cannot create token manager: the prefix of `envCredentials` is empty (read by `issuers.general.credentials`)',
  )
})

test('variables that are empty or no date are refused at start-up, by name and all at once', () => {
  const create = (): unknown => fakeService({ credentials: envCredentials('SHOP') })
  vi.stubEnv('SHOP_CLIENT_SECRET', ' ')
  vi.stubEnv('SHOP_SECRET_ISSUED_AT', 'yesterday')
  expect(create).toThrow(
    'Missing environment variable: SHOP_CLIENT_ID; The environment variable SHOP_CLIENT_SECRET is empty; The environment variable SHOP_SECRET_ISSUED_AT is not an ISO 8601 date, such as 2026-11-21 (read by',
  )
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  vi.stubEnv('SHOP_CLIENT_SECRET', 'secret-1')
  vi.stubEnv('SHOP_SECRET_ISSUED_AT', 'yesterday')
  expect(create).toThrow('SHOP_SECRET_ISSUED_AT is not an ISO 8601 date')
  vi.stubEnv('SHOP_SECRET_ISSUED_AT', '2026-11-01')
  expect(create).not.toThrow()
})

test('variables are read anew before each token request', async () => {
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  vi.stubEnv('SHOP_CLIENT_SECRET', 'secret-1')
  const { tokens, issuer } = fakeService({ credentials: envCredentials('SHOP') })
  await tokens.warmUp()
  vi.stubEnv('SHOP_CLIENT_SECRET', 'secret-2')
  vi.stubEnv('SHOP_CLIENT_SECRET_NEXT', 'secret-3')
  acceptOnly(issuer, 'secret-3')
  await vi.advanceTimersByTimeAsync(3_600_000)
  await tokens.getToken('general')
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-2', 'secret-3'])
})

test('a refusal names the variables, and what looks wrong about what is in them', async () => {
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  vi.stubEnv('SHOP_CLIENT_SECRET', '"secret-1"')
  const { tokens, issuer } = fakeService({ credentials: envCredentials('SHOP') })
  issuer.respondWith(() => refusal())
  await expect(tokens.getToken('general')).rejects.toThrow(
    'check the client id and secret in SHOP_CLIENT_ID, SHOP_CLIENT_SECRET (`issuers.general.credentials`): `clientSecret` is in quotes (see',
  )
})

test('a refusal names no variables where the provider cannot say which', async () => {
  const credentials = Object.assign(() => ({ clientId: 'your-id', clientSecret: 'a b' }), {
    readsFrom() {
      throw new Error('secret')
    },
  })
  const { tokens, issuer } = fakeService({ credentials })
  issuer.respondWith(() => refusal())
  await expect(tokens.getToken('general')).rejects.toThrow(
    'check the client id and secret in `issuers.general.credentials`: `clientId` looks like a placeholder, and `clientSecret` has white space in it (see',
  )
})

const pem = (label: string): string => `-----BEGIN ${label}-----\nYQ==\n-----END ${label}-----`
const tokenEndpoint = 'https://auth.example.com/token'

test('a provider of the application that calls it gets a key as well as a secret', async () => {
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  const { privateKey } = generateKeyPairSync('ed25519')
  vi.stubEnv('SHOP_PRIVATE_KEY', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
  const inEnvironment = envCredentials('SHOP')
  const issuer = oauthIssuer({
    tokenEndpoint,
    clientAuthentication: 'private_key_jwt',
    credentials: async (context) => inEnvironment(context),
  })
  const tokens = createTokenManager({ issuers: { shop: issuer }, apis: [] })
  expect(await inspectionOf(tokens)?.clients('shop')).toEqual([{ clientId: 'client-1' }])
})

test('a certificate that cannot be used is named by its variable', () => {
  vi.stubEnv('SHOP_CLIENT_ID', 'client-1')
  vi.stubEnv('SHOP_CERTIFICATE', pem('CERTIFICATE'))
  vi.stubEnv('SHOP_PRIVATE_KEY', pem('PRIVATE KEY'))
  const issuer = oauthIssuer({ tokenEndpoint, credentials: envCredentials('SHOP') })
  expect(() => createTokenManager({ issuers: { shop: issuer }, apis: [], fetch: globalThis.fetch })).toThrow(
    'The environment variable SHOP_CERTIFICATE is for tls_client_auth, which needs `node:https`, not the `fetch` option; allowed: another method',
  )
})

test('a runtime that refuses to read variables is quoted, with the name of the first', () => {
  const said = 'Requires env access to "SHOP_CLIENT_ID", run again with the --allow-env flag'
  const env = new Proxy(process.env, {
    get(target, name) {
      if (String(name).startsWith('SHOP_')) throw new Error(said)
      return Reflect.get(target, name) as unknown
    },
  })
  vi.spyOn(process, 'env', 'get').mockReturnValue(env)
  const create = (): unknown => fakeService({ credentials: envCredentials('SHOP') })
  expect(create).toThrow(/The environment variable SHOP_\w+ cannot be read: /)
  expect(create).toThrow(said)
  vi.restoreAllMocks()
})
