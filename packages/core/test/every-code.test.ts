import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  createTokenManager,
  isTokenlaneError,
  type CredentialsProvider,
  type IssuerSettings,
  type RatePolicy,
  type TokenlaneErrorCode,
  type TokenManager,
} from '../src/index.ts'
import { fakeService } from './fake-issuer.ts'
import { shown } from './shown.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => {
  // in this order: a stub of a fake timer is undone to the fake one
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const secret = 'secret-that-nobody-may-see'
const credentials = { clientId: 'client-1', clientSecret: secret }

/** Fails with all that a transport may have at hand. */
const failing = (code: string): Error =>
  Object.assign(new TypeError(`fetch failed: client_secret=${secret}`), {
    options: { body: secret },
    cause: Object.assign(new Error(secret), { code, config: { data: secret } }),
  })

/** A token that the issuer, or what stands before it, does not give. */
async function tokenFrom(
  answer: () => Response | Error | Promise<Response>,
  settings: Partial<IssuerSettings> = {},
): Promise<unknown> {
  const { tokens, issuer } = fakeService({ credentials, maxWait: 1_000, ...settings })
  issuer.respondWith(answer)
  const token = tokens.getToken('general')
  token.catch(() => {})
  await vi.advanceTimersByTimeAsync(60_000)
  return token
}

/** A call that finds the only slot of its API taken. */
async function secondCall(ratePolicy: Partial<RatePolicy>): Promise<unknown> {
  const policy = { limits: [{ quota: 1, window: 1_000 }], concurrency: 1, ...ratePolicy }
  const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy: policy }]
  const { tokens } = fakeService({ credentials }, { apis })
  await tokens.getToken('general')
  await admit(tokens)
  const call = admit(tokens)
  call.catch(() => {})
  await vi.advanceTimersByTimeAsync(60_000)
  return call
}

const admit = async (tokens: TokenManager): Promise<unknown> =>
  tokens.route(`https://api.example.com/records?token=${secret}`)?.admit()

const vault: CredentialsProvider = () => {
  throw failing('ENOENT')
}

/** Every code that there is, or this does not compile. */
const provoked: Record<TokenlaneErrorCode, () => unknown> = {
  INVALID_OPTIONS: () => fakeService({ credentials: { ...credentials, clientSecret: `${secret} ` } }),
  INSECURE_TRANSPORT: () => tokenFrom(() => failing('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')),
  CREDENTIALS_UNAVAILABLE: () => tokenFrom(() => new Response(), { credentials: vault }),
  TOKEN_REQUEST_REFUSED: () =>
    tokenFrom(() =>
      Response.json(
        { error: 'invalid_client', error_description: secret, error_uri: secret },
        { status: 401 },
      ),
    ),
  TOKEN_REQUEST_FAILED: () => tokenFrom(() => failing(secret)),
  TOKEN_REQUEST_TIMEOUT: () => tokenFrom(() => new Promise(() => {}), { requestTimeout: 500 }),
  TOKEN_RESPONSE_INVALID: () => tokenFrom(() => new Response(`{"access_token":"${secret}\n"}`)),
  QUEUE_FULL: () => secondCall({ maxQueued: 0 }),
  QUEUE_TIMEOUT: () => secondCall({ maxWait: 100 }),
  MANAGER_CLOSED: async () => {
    const { tokens } = fakeService({ credentials })
    await tokens.close()
    await admit(tokens)
  },
  CLIENT_SIDE_FORBIDDEN: () => {
    vi.stubGlobal('window', {})
    vi.stubGlobal('document', {})
    createTokenManager({
      issuers: { general: { tokenEndpoint: `https://auth.example.com/${secret}`, credentials } },
      apis: [],
    })
  },
  RUNTIME_UNSUPPORTED: () => {
    // as in the module of a Cloudflare Worker
    vi.stubGlobal('WebSocketPair', {})
    vi.stubGlobal('setInterval', () => {
      throw new Error('Disallowed operation called within global scope')
    })
    return fakeService({ credentials }).tokens.getToken('general')
  },
}

test.each(Object.entries(provoked))('%s shows no secret', async (code, provoke) => {
  const error: unknown = await Promise.resolve()
    .then(provoke)
    .catch((reason: unknown) => reason)
  expect(isTokenlaneError(error) && error.code).toBe(code)
  expect(shown(error)).not.toContain(secret)
})
