// Long: the servers fail in the way, and are asked again after a while.
import type { RequestListener } from 'node:http'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createTokenManager,
  oauthIssuer,
  type IssuerOptions,
  type TokenlaneEvent,
  type TokenManager,
} from '../../src/index.ts'
import { useServer } from '../use-server.ts'
import { lifetime, type Registered, servers } from './servers.ts'

/** An id or a secret of each kind that is handed out somewhere. */
const kinds = {
  'letters and digits': 'aZ09',
  'what form encoding leaves as it is': 'a-b_c.d*e',
  'a UUID': '0b7b4e2e-6b0a-4c60-9f43-5a1d8a4c2f11',
  base64url: 'q3-_Jx8Zk2Lm-0PwR_t5',
  base64: 'q3+/Jx8Zk2Lm+0PwR/t5==',
  'every other character': 'a~b!c#d$e&f\'g(h)i,j;k<l>m?n@o[p]q^r`s{t|u}v w"x\\y%z',
}

afterEach(() => vi.useRealTimers())

describe.each(servers)('$name', ({ start, decodesBasic, knowsClients, refusal }) => {
  const registered: Registered = { clientId: '', secrets: [] }
  let listener: RequestListener
  /** What happens to the next requests in place of the server's answer. */
  let before: RequestListener[] = []
  let requests = 0
  const server = useServer((request, response) => {
    requests += 1
    const first = before.shift()
    if (first === undefined) listener(request, response)
    else first(request, response)
  })
  beforeAll(async () => {
    listener = await start(registered)
  })
  beforeEach(() => {
    Object.assign(registered, { clientId: 'reports', secrets: ['first'] })
    before = []
    requests = 0
  })

  const events: TokenlaneEvent[] = []
  function managerOf(options: Partial<IssuerOptions> = {}): TokenManager {
    events.length = 0
    const issuer = {
      tokenEndpoint: `${server.url}/token`,
      allowInsecureLoopback: true,
      credentials: { clientId: 'reports', clientSecret: 'first' },
      ...options,
    } as IssuerOptions
    return createTokenManager({
      issuers: { server: oauthIssuer(issuer) },
      apis: [],
      observe: (event) => events.push(event),
    })
  }

  const token = { issuer: 'server', value: expect.any(String) as string }

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
      message: expect.stringContaining('which some servers do not decode') as string,
    }
    expect(outcome).toMatchObject(decodesBasic || /^[\w.*-]+$/.test(text) ? token : undecoded)
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
    await expect(Promise.all([tokens.getToken('server'), tokens.getToken('server')])).resolves.toHaveLength(2)
    expect(requests).toBe(3)
  })

  if (!knowsClients) return
  describe('a client', () => {
    const refused = { code: 'TOKEN_REQUEST_REFUSED', ...(refusal !== undefined && { oauthError: refusal }) }

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
      const credentials = ['first', 'second'].map((clientSecret) => ({ clientId: 'reports', clientSecret }))
      await expect(managerOf({ credentials }).getToken('server')).resolves.toMatchObject(token)
      expect(requests).toBe(2)
    })

    test('whose secret is rotated is asked for again, and no call is lost', async () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      let clientSecret = 'first'
      const tokens = managerOf({ credentials: () => ({ clientId: 'reports', clientSecret }), renewBefore: 0 })
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
        oauthError: 'invalid_scope',
      })
      expect(requests).toBe(1)
    })
  })
})
