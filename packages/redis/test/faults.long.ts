// Long: Redis servers that crash and hang.
import { createTokenManager, type TokenlaneEvent, type TokenManager } from '@tokenlane/core'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { redisTokenStore } from '../src/index.ts'
import { clientKinds, connectClient } from './clients.ts'

// Whatever Redis does, every call gets a token. Managers of this process stand for processes; Redis is real.
const patience = { interval: 20 }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.close())

let requests = 0
let events: TokenlaneEvent[] = []
beforeEach(() => {
  requests = 0
  events = []
})

const secret = 'secret-that-nobody-may-see'
const issue = async (): Promise<Response> =>
  Response.json({
    access_token: `token-that-nobody-may-see-${(requests += 1)}`,
    token_type: 'Bearer',
    expires_in: 3_600,
  })

const statesOfStore = (): string[] =>
  events.flatMap((event) => (event.type.startsWith('store.') ? [JSON.stringify(event)] : []))

describe.each(clientKinds)('with %s', (kind) => {
  const managers: TokenManager[] = []
  const clients: { destroy(): void }[] = []
  afterEach(async () => {
    // what is still being written is not for the next test
    await Promise.all(managers.splice(0).map((tokens) => tokens.close()))
    const admin = await connectAdmin()
    await admin.flushAll()
    await admin.configSet({ maxmemory: '0' })
    for (const client of clients.splice(0)) client.destroy()
  })

  const connectAdmin = async () => {
    const client = createClient({ url: redis.url }).on('error', () => {})
    clients.push(client)
    return client.connect()
  }

  async function join(): Promise<TokenManager> {
    const client = await connectClient(kind, redis.url)
    clients.push(client)
    const tokens = createTokenManager({
      issuers: {
        weblink: {
          tokenEndpoint: 'https://auth.example.com/token',
          scope: 'WebLinkAPI',
          credentials: { clientId: 'client-that-nobody-may-see', clientSecret: secret },
        },
      },
      apis: [{ baseUrl: 'https://api.example.com/', issuer: 'weblink' }],
      store: redisTokenStore({ client }),
      observe: (event) => events.push(event),
      fetch: issue,
    })
    managers.push(tokens)
    return tokens
  }

  const tokenOf = async (tokens: TokenManager): Promise<string> => (await tokens.getToken('weblink')).value

  /** A call whose token is refused, and which comes back with another. */
  const refused = async (tokens: TokenManager): Promise<string | undefined> => {
    let attempts = 0
    return tokens.route('https://api.example.com/')?.send(async (authorization) => {
      const status = (attempts += 1) === 1 ? 401 : 200
      return { status, result: authorization, discard() {} }
    })
  }

  test('Redis killed, and back again, empty', async () => {
    const [one, two] = [await join(), await join()]
    expect(await tokenOf(one)).toBe(await tokenOf(two))
    await redis.kill()
    expect(new Set(await Promise.all([refused(one), refused(two)])).size).toBe(2)
    expect(requests).toBe(3)
    expect(statesOfStore()).toHaveLength(2)
    await redis.restart()
    await vi.waitFor(async () => {
      await tokenOf(await join())
      await refused(one)
      expect(statesOfStore()).toContain('{"type":"store.recovered"}')
    }, patience)
  })

  test('Redis standing still', async () => {
    const [one, two] = [await join(), await join()]
    redis.stop()
    expect(await Promise.all([tokenOf(one), tokenOf(two)])).toHaveLength(2)
    expect(requests).toBe(2)
    expect(statesOfStore()).toEqual(Array(2).fill('{"type":"store.failed","reason":"timeout"}'))
    redis.resume()
    const three = await join()
    // what it was asked meanwhile, Redis does now; it may not hold up those who come
    await vi.waitFor(async () => expect(await tokenOf(three)).toContain('nobody-may-see-3'), patience)
  })

  test('Redis out of memory', async () => {
    const admin = await connectAdmin()
    await admin.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' })
    expect(await tokenOf(await join())).toContain('nobody-may-see-1')
    expect(statesOfStore()).toEqual(['{"type":"store.failed","reason":"OOM"}'])
  })

  test.each([
    ['garbage', 'rubbish', 'unreadable'],
    ['the ciphertext of another key', '1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'unreadable'],
    ['another type', undefined, 'WRONGTYPE'],
  ])('%s in the place of the token', async (_, text, reason) => {
    await tokenOf(await join())
    const admin = await connectAdmin()
    const [key = ''] = await admin.keys('*:token')
    if (text === undefined) {
      await admin.del(key)
      await admin.hSet(key, 'field', 'value')
    } else await admin.set(key, text)
    expect(await tokenOf(await join())).toContain('nobody-may-see-2')
    expect(statesOfStore()[0]).toBe(`{"type":"store.failed","reason":"${reason}"}`)
  })

  test('a dump shows neither token nor secret, client or issuer', async () => {
    const [one, two] = [await join(), await join()]
    await tokenOf(one)
    await Promise.all([refused(one), refused(two)])
    const admin = await connectAdmin()
    const shown: unknown[] = []
    for await (const keys of admin.scanIterator())
      for (const key of keys) shown.push(key, await admin.get(key), await admin.dump(key))
    expect(shown.length).toBeGreaterThan(0)
    const base64 = (text: string): string => Buffer.from(text).toString('base64').slice(0, -4)
    for (const word of ['nobody-may-see', base64('token-that'), base64(secret), 'example.com', 'weblink'])
      expect(JSON.stringify(shown)).not.toContain(word)
  })
})
