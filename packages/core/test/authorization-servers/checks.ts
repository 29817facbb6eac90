// What other projects' authorization servers must pass, behind a TLS terminator that counts token requests and fails some.
import type { RequestListener } from 'node:http'
import { exportJWK, exportPKCS8, generateKeyPair, type JWK } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createTokenManager,
  oauthIssuer,
  type ClientCredentials,
  type IssuerOptions,
  type PrivateKeyCredentials,
  type TokenlaneEvent,
  type TokenManager,
} from '../../src/index.ts'
import { useTlsServer } from './start.ts'

/** What a test sets. */
export interface Registered {
  clientId: string
  /** The secrets that the server takes now. */
  secrets: readonly string[]
  /** The public keys that verify the client's assertions. */
  keys: readonly JWK[]
}

/** How long each token lives, in seconds. */
export const lifetime = 60

type SigningAlgorithm = NonNullable<PrivateKeyCredentials['algorithm']>

/** Where and for how long a server runs. */
export interface Run {
  /** Its issuer identifier, as clients see it. */
  readonly issuer: string
  /** Ends what it started. */
  readonly stopped: AbortSignal
}

/** A server, and what it does otherwise than RFC 6749 says. */
export interface Server {
  readonly name: string
  /** Returns what answers token requests, at any path unless `tokenPath` says where. */
  readonly start: (registered: Registered, run: Run) => RequestListener | Promise<RequestListener>
  /** Whether it decodes what Basic authentication holds (RFC 6749 §2.3.1); `undefined` where its versions differ. */
  readonly decodesBasic: boolean | undefined
  /** Whether it asks for a client at all. */
  readonly knowsClients: boolean
  /** How it names a client that it refuses; `undefined` for a response without an OAuth body. */
  readonly refusal: string | undefined
  /** How it names a scope that it refuses: `invalid_scope` unless it has a word of its own. */
  readonly scopeRefusal?: string
  /** The scope without which it gives no token. */
  readonly scope?: string
  readonly tokenPath?: string
  /** The path of its issuer identifier, for a server that publishes metadata. */
  readonly issuerPath?: string
  readonly assertions?: {
    readonly algorithms: readonly SigningAlgorithm[]
    /** Whether an assertion may be for the issuer identifier in place of the token endpoint. */
    readonly takesIssuer: boolean
  }
  /** The path at which a token is revoked, and the status by which its API at `/records` refuses that token. */
  readonly revocation?: { readonly path: string; readonly status: number }
}

/** An id or a secret of each kind that is handed out somewhere. */
const kinds = {
  'letters and digits': 'aZ09',
  'what form encoding leaves as it is': 'a-b_c.d*e',
  'a UUID': '0b7b4e2e-6b0a-4c60-9f43-5a1d8a4c2f11',
  base64url: 'q3-_Jx8Zk2Lm-0PwR_t5',
  base64: 'q3+/Jx8Zk2Lm+0PwR/t5==',
  'every other character': 'a~b!c#d$e&f\'g(h)i,j;k<l>m?n@o[p]q^r`s{t|u}v w"x\\y%z',
}

const optional = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value])

/** Registers the tests of each server. */
export function checkServers(...servers: readonly Server[]): void {
  describe.each(servers)(
    '$name',
    ({ start, decodesBasic, knowsClients, refusal, tokenPath = '/token', ...more }) => {
      const { issuerPath, assertions, revocation, scope, scopeRefusal = 'invalid_scope' } = more
      const registered: Registered = { clientId: '', secrets: [], keys: [] }
      let listener: RequestListener
      /** What happens to the next requests in place of the server's answer. */
      let before: RequestListener[] = []
      let requests = 0
      const server = useTlsServer((request, response) => {
        const isTokenRequest = request.url === tokenPath
        if (isTokenRequest) requests += 1
        const answer = (isTokenRequest && before.shift()) || listener
        answer(request, response)
      })
      const stop = new AbortController()
      const stopAtExit = (): void => stop.abort()
      beforeAll(async () => {
        // a test run that is cut short leaves no server behind
        process.once('exit', stopAtExit)
        const issuer = `${server.url}${issuerPath ?? ''}`
        listener = await start(registered, { issuer, stopped: stop.signal })
      })
      afterAll(() => {
        process.off('exit', stopAtExit)
        stop.abort()
      })
      afterEach(() => vi.useRealTimers())
      beforeEach(() => {
        Object.assign(registered, { clientId: 'reports', secrets: ['first'], keys: [] })
        before = []
        requests = 0
      })

      const events: TokenlaneEvent[] = []
      function managerOf(options: Partial<IssuerOptions> = {}): TokenManager {
        events.length = 0
        const issuer = {
          ...(options.issuer === undefined && { tokenEndpoint: `${server.url}${tokenPath}` }),
          credentials: { clientId: 'reports', clientSecret: 'first' },
          ...(scope !== undefined && { scope }),
          ...options,
        } as IssuerOptions
        const refusedStatuses = [revocation?.status ?? 401]
        return createTokenManager({
          issuers: { server: oauthIssuer(issuer) },
          apis: [{ baseUrl: `${server.url}/records`, issuer: 'server', refusedStatuses }],
          observe: (event) => events.push(event),
        })
      }

      const token = { issuer: 'server', value: expect.any(String) as string }
      const refused = { code: 'TOKEN_REQUEST_REFUSED', ...(refusal !== undefined && { oauthError: refusal }) }

      test.each(Object.entries(kinds))('client_secret_post takes %s', async (_kind, text) => {
        Object.assign(registered, { clientId: text, secrets: [text] })
        const tokens = managerOf({ credentials: { clientId: text, clientSecret: text } })
        await expect(tokens.getToken('server')).resolves.toMatchObject(token)
        expect(requests).toBe(1)
      })

      test.each(Object.entries(kinds))('client_secret_basic with %s', async (_kind, text) => {
        Object.assign(registered, { clientId: text, secrets: [text] })
        const tokens = managerOf({
          clientAuthentication: 'client_secret_basic',
          credentials: { clientId: text, clientSecret: text },
        })
        const outcome: unknown = await tokens.getToken('server').catch((error: unknown) => error)
        const undecoded = {
          code: 'TOKEN_REQUEST_REFUSED',
          message: expect.stringContaining('some servers do not form-decode') as string,
        }
        const isDecoded = decodesBasic ?? !(outcome instanceof Error)
        expect(outcome).toMatchObject(isDecoded || /^[\w.*-]+$/.test(text) ? token : undecoded)
      })

      test.each(['client_secret_post', 'client_secret_basic'] as const)(
        '%s: a scope is granted',
        async (method) => {
          const tokens = managerOf({ clientAuthentication: method, scope: 'read write' })
          await expect(tokens.getToken('server')).resolves.toMatchObject(token)
        },
      )

      test('the token lives as long as the server says, and the next one is asked for in time', async () => {
        vi.useFakeTimers({ toFake: ['Date'] })
        const tokens = managerOf({ renewBefore: 0 })
        const { expiresAt } = await tokens.getToken('server')
        expect(Math.abs(Number(expiresAt) - Date.now() - lifetime * 1_000)).toBeLessThan(2_000)
        await tokens.getToken('server')
        expect(requests).toBe(1)
        vi.setSystemTime(Date.now() + lifetime * 1_000)
        await tokens.getToken('server')
        expect(requests).toBe(2)
      })

      test('20 calls that come while the server takes its time are one request', async () => {
        const hold = Promise.withResolvers<void>()
        before = [(request, response) => void hold.promise.then(() => listener(request, response))]
        const tokens = managerOf()
        const calls = Array.from({ length: 20 }, () => tokens.getToken('server'))
        await vi.waitFor(() => expect(requests).toBe(1))
        hold.resolve()
        expect(new Set((await Promise.all(calls)).map(({ value }) => value)).size).toBe(1)
        expect(requests).toBe(1)
      })

      test.each<[string, RequestListener]>([
        ['cuts the connection', (request) => request.socket.destroy()],
        ['is away behind a proxy', (_, response) => response.writeHead(502).end('<html>Bad Gateway</html>')],
        ['wants to be left alone', (_, response) => response.writeHead(503, { 'retry-after': '0' }).end()],
      ])('a server that %s twice loses no call', async (_what, fault) => {
        before = [fault, fault]
        const tokens = managerOf()
        await expect(
          Promise.all([tokens.getToken('server'), tokens.getToken('server')]),
        ).resolves.toHaveLength(2)
        expect(requests).toBe(3)
      })

      test.each(optional(issuerPath))(
        'is found by its metadata at "%s", unless a redirect leads there',
        async (path) => {
          const issuer = `${server.url}${path}`
          const asked = await fetch(`${issuer}/.well-known/openid-configuration`, { redirect: 'manual' })
          const outcome: unknown = await managerOf({ issuer })
            .getToken('server')
            .catch((error: unknown) => error)
          // it could lead to the metadata of another server
          const redirected = {
            code: 'TOKEN_REQUEST_FAILED',
            definite: true,
            message: expect.stringContaining('has no metadata (status 301)') as string,
          }
          expect(outcome).toMatchObject(asked.status === 301 ? redirected : token)
        },
      )

      test.each(optional(revocation))(
        '20 calls with a token that was revoked at $path are sent again with one new token',
        async ({ path }) => {
          // glewlwyd revokes only tokens that were asked for with Basic
          const tokens = managerOf({ clientAuthentication: 'client_secret_basic' })
          const url = `${server.url}/records`
          const call = async (): Promise<number | undefined> =>
            tokens.route(url)?.send(async (authorization) => {
              const { status } = await fetch(url, { headers: { authorization } })
              return { status, result: status, discard() {} }
            })
          expect(await call()).toBe(200)
          const { value } = await tokens.getToken('server')
          const revoked = await fetch(`${server.url}${path}`, {
            method: 'POST',
            headers: { authorization: `Basic ${btoa('reports:first')}` },
            body: new URLSearchParams({ token: value, token_type_hint: 'access_token' }),
          })
          expect(revoked.status).toBe(200)
          expect(await Promise.all(Array.from({ length: 20 }, call))).toEqual(Array(20).fill(200))
          expect(requests).toBe(2)
        },
      )

      describe.each(optional(assertions))('private_key_jwt', ({ algorithms, takesIssuer }) => {
        /** Registers a new key of the client. */
        async function register(algorithm: SigningAlgorithm): Promise<ClientCredentials> {
          const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
          registered.keys = [{ ...(await exportJWK(publicKey)), kid: 'key-1', use: 'sig' }]
          return { clientId: 'reports', privateKey: await exportPKCS8(privateKey), keyId: 'key-1', algorithm }
        }
        const clientAuthentication = 'private_key_jwt'

        test.each(algorithms)('with %s', async (algorithm) => {
          const credentials = await register(algorithm)
          const tokens = managerOf({ clientAuthentication, credentials })
          await expect(tokens.getToken('server')).resolves.toMatchObject(token)
          expect(requests).toBe(1)
        })

        test('for the issuer identifier, or for an audience that is named', async () => {
          const credentials = await register('ES256')
          const found = {
            clientAuthentication,
            credentials,
            issuer: `${server.url}${issuerPath}`,
          } as const
          const outcome: unknown = await managerOf(found)
            .getToken('server')
            .catch((error: unknown) => error)
          expect(outcome).toMatchObject(takesIssuer ? token : refused)
          expect(requests).toBe(1)
          const named = managerOf({ ...found, assertionAudience: `${server.url}${tokenPath}` })
          await expect(named.getToken('server')).resolves.toMatchObject(token)
        })

        test('with a key that the server does not know is refused at once, and the next key is tried', async () => {
          const [unknown, known] = [await register('ES256'), await register('ES256')]
          await expect(
            managerOf({ clientAuthentication, credentials: unknown }).getToken('server'),
          ).rejects.toMatchObject(refused)
          expect(requests).toBe(1)
          const tokens = managerOf({ clientAuthentication, credentials: [unknown, known] })
          await expect(tokens.getToken('server')).resolves.toMatchObject(token)
          expect(requests).toBe(3)
        })
      })

      if (!knowsClients) return
      describe('a client', () => {
        test.each([
          ['a wrong secret', { clientId: 'reports', clientSecret: 'wrong' }],
          ['an unknown client', { clientId: 'unknown', clientSecret: 'first' }],
        ])('with %s is refused by one request', async (_what, credentials) => {
          for (const clientAuthentication of ['client_secret_post', 'client_secret_basic'] as const) {
            requests = 0
            const error: unknown = await managerOf({ clientAuthentication, credentials })
              .getToken('server')
              .catch((thrown: unknown) => thrown)
            expect(error).toMatchObject(refused)
            expect(requests).toBe(1)
            expect(String(error)).not.toMatch(/wrong|first/)
          }
        })

        test('of two secrets the second is tried in the same flight', async () => {
          registered.secrets = ['second']
          const credentials = ['first', 'second'].map((clientSecret) => ({
            clientId: 'reports',
            clientSecret,
          }))
          await expect(managerOf({ credentials }).getToken('server')).resolves.toMatchObject(token)
          expect(requests).toBe(2)
        })

        test('whose secret is rotated is asked for again, and no call is lost', async () => {
          vi.useFakeTimers({ toFake: ['Date'] })
          let clientSecret = 'first'
          const tokens = managerOf({
            credentials: () => ({ clientId: 'reports', clientSecret }),
            renewBefore: 0,
          })
          await tokens.getToken('server')
          registered.secrets = ['second']
          // the vault has it once the old one was refused
          before = [
            (request, response) => {
              clientSecret = 'second'
              listener(request, response)
            },
          ]
          vi.setSystemTime(Date.now() + lifetime * 1_000)
          await expect(
            Promise.all(Array.from({ length: 20 }, () => tokens.getToken('server'))),
          ).resolves.toHaveLength(20)
          expect(requests).toBe(3)
          expect(events.filter(({ type }) => type === 'credentials.rotated')).toHaveLength(1)
        })

        test('that asks for a scope which it may not have is told so, once', async () => {
          await expect(managerOf({ scope: 'admin' }).getToken('server')).rejects.toMatchObject({
            code: 'TOKEN_REQUEST_REFUSED',
            oauthError: scopeRefusal,
          })
          expect(requests).toBe(1)
        })
      })
    },
  )
}
