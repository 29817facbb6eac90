import {
  createTokenManager,
  type RatePolicy,
  type TokenlaneEvent,
  type TokenManager,
  type TokenManagerOptions,
} from '@tokenlane/core'
import type { Claim, LimitedApi, Permit, RateLimiter, Word } from '@tokenlane/core/fleet'
import { createTenants, type Tenants } from '@tokenlane/core/tenants'
import { startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { expect, test, vi } from 'vitest'
import { type RedisClient, redisLimiter } from '../src/index.ts'
import { partOf } from '../src/limiter/fallback-limiter.ts'
import { useRedis } from './support/use-redis.ts'

/** The clients of these tests connect again at once. */
const reconnectTime = 500
const baseUrl = 'https://api.example.com/'

const redis = useRedis()

interface Member {
  readonly tokens: TokenManager
  readonly tenants: Tenants
  readonly events: TokenlaneEvent[]
  readonly sentAt: number[]
  /** The tenants of the calls, in the order in which they were sent. */
  readonly sentFor: (string | undefined)[]
  call(options?: CallOptions): Promise<number>
}

interface CallOptions {
  readonly status?: number
  readonly signal?: AbortSignal
  readonly tenant?: string
  /** The `RateLimit` header of the response. */
  readonly rateLimit?: string
}

interface MemberOptions {
  readonly client?: RedisClient
  readonly timeout?: number
}

let fleets = 0

/** Managers that share a budget as processes do; each test has a fleet of its own. */
class Fleet implements AsyncDisposable {
  readonly prefix = `test${(fleets += 1)}`
  readonly #managers: { close(): Promise<void> }[] = []
  readonly #limiters: RateLimiter[] = []
  readonly #clients: { destroy(): void }[] = []

  async connect(url: string) {
    const client = await createClient({ url }).connect()
    this.#clients.push(client)
    return client
  }

  /** Adds a process, for all that Redis knows. */
  join(
    ratePolicy: RatePolicy,
    { client = redis.client, timeout: patience = 5_000 }: MemberOptions = {},
  ): Member {
    const events: TokenlaneEvent[] = []
    const sentAt: number[] = []
    const sentFor: (string | undefined)[] = []
    const { prefix } = this
    const limiter = redisLimiter({ client, prefix, fallbackShare: 1 / 2, timeout: patience, reconnectTime })
    const optionsOf = (clientId: string): TokenManagerOptions => ({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId, clientSecret: 'secret' },
        },
      },
      apis: [{ baseUrl, issuer: 'general', ratePolicy }],
      fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
      observe: (event) => events.push(event),
      limiter,
    })
    const tokens = createTokenManager(optionsOf('client'))
    const tenants = createTenants({ options: optionsOf, limits: 'shared' })
    this.#managers.push(tokens, tenants)
    return {
      tokens,
      tenants,
      events,
      sentAt,
      sentFor,
      async call({ status = 200, signal, tenant, rateLimit } = {}) {
        const attempt = async () => {
          sentAt.push(performance.now())
          sentFor.push(tenant)
          const header = (name: string) => (name === 'ratelimit' ? rateLimit : undefined)
          return { status, result: status, discard() {}, header }
        }
        const owner = tenant === undefined ? tokens : tenants.get(tenant)
        return (await owner.route(baseUrl)?.send(attempt, { signal, replayable: false })) ?? 0
      },
    }
  }

  /** Returns the limiter of a process, without calls. */
  limiterOf(hooks: Partial<LimitedApi> = {}): RateLimiter {
    const nothing = (): void => {}
    const factory = redisLimiter({ client: redis.client, prefix: this.prefix, fallbackShare: 1 })
    const limiter = factory({
      baseUrl,
      unitsAvailable: nothing,
      heard: nothing,
      counted: nothing,
      failed: nothing,
      recovered: nothing,
      ...hooks,
    })
    this.#limiters.push(limiter)
    return limiter
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      ...this.#managers.map((tokens) => tokens.close()),
      ...this.#limiters.map(async (limiter) => limiter.close?.()),
    ])
    for (const client of this.#clients) client.destroy()
  }
}

const gaps = (members: Member[], quota: number): number[] => {
  const all = members.flatMap(({ sentAt }) => sentAt).toSorted((a, b) => a - b)
  return all.slice(quota).map((at, index) => at - (all[index] ?? 0))
}
const ofLimiter = ({ events }: Member): TokenlaneEvent[] =>
  events.filter(({ type }) => type.startsWith('limiter.'))

test.concurrent('two managers keep all limits together', async () => {
  await using fleet = new Fleet()
  const limits = [
    { quota: 4, window: 150 },
    { quota: 7, window: 500 },
  ]
  const members = [fleet.join({ limits }), fleet.join({ limits })]
  await Promise.all(members.flatMap(({ call }) => Array.from({ length: 6 }, () => call())))
  expect(Math.min(...gaps(members, 4))).toBeGreaterThan(150)
  expect(Math.min(...gaps(members, 7))).toBeGreaterThan(500)
})

test.concurrent('a pause that one process is asked for holds for all', async () => {
  await using fleet = new Fleet()
  const limits = [{ quota: 100, window: 100 }]
  let exchanges = 0
  const client = {
    evalSha: (...args: Parameters<typeof redis.client.evalSha>) =>
      redis.client.evalSha(...args).finally(() => (exchanges += 1)),
    eval: redis.client.eval.bind(redis.client),
  } as RedisClient
  const [first, second] = [fleet.join({ limits }, { client }), fleet.join({ limits })]
  expect(await first.call({ status: 429 })).toBe(429)
  const pausedAt = performance.now()
  const before = exchanges
  await vi.waitFor(() => expect(exchanges).toBeGreaterThan(before))
  await second.call()
  expect((second.sentAt[0] ?? 0) - pausedAt).toBeGreaterThan(900)
})

const claimOf = (quota: number, window: number): Claim => ({
  key: '',
  cost: 1,
  limits: [{ series: '', quota, window }],
  interval: 0,
  accounting: 'strict',
  unansweredGrace: undefined,
})

test.concurrent('what one process says, the others hear once: a word, and the word that ends it', async () => {
  await using fleet = new Fleet()
  const heard = vi.fn<(word: Word) => void>()
  const own = vi.fn<(word: Word) => void>()
  const one = fleet.limiterOf({ heard: own })
  const other = fleet.limiterOf({ heard })
  const claim = claimOf(5, 100)
  const look = (): void => void other.take(claim, 1)
  look()
  await vi.waitFor(() => expect(other.usage(claim).used).toBeDefined())
  one.tell({ about: 'pause', text: '429', for: 60_000 })
  one.tell({ about: 'pace', text: '0.5', for: Infinity })
  await vi.waitFor(() => {
    look()
    expect(heard).toHaveBeenCalledTimes(2)
  })
  expect(heard).toHaveBeenCalledWith({ about: 'pace', text: '0.5', for: Infinity })
  const pause = heard.mock.calls.map(([word]) => word).find(({ about }) => about === 'pause')
  expect(pause).toEqual({ about: 'pause', text: '429', for: expect.any(Number) as number })
  expect(pause?.for).toBeGreaterThan(50_000)
  // a shorter one does not end it, and one of 0 ms does
  one.tell({ about: 'pause', text: '429', for: 1_000 })
  one.tell({ about: 'pace', text: '0.4', for: Infinity })
  await vi.waitFor(() => {
    look()
    expect(heard).toHaveBeenLastCalledWith({ about: 'pace', text: '0.4', for: Infinity })
  })
  one.tell({ about: 'pause', text: '', for: 0 })
  await vi.waitFor(() => {
    look()
    expect(heard).toHaveBeenLastCalledWith({ about: 'pause', text: '', for: 0 })
  })
  expect(heard).toHaveBeenCalledTimes(4)
  expect(own).not.toHaveBeenCalled()
})

test.concurrent('a process that starts hears what holds, and how many responses the others had', async () => {
  await using fleet = new Fleet()
  const claim = claimOf(5, 100)
  const one = fleet.limiterOf()
  one.tell({ about: 'policy', text: '{}', for: Infinity })
  const sent = vi.fn<() => void>()
  const counted = vi.fn<(accepted: number, refused: number) => void>()
  const heard = vi.fn<(word: Word) => void>()
  const late = fleet.limiterOf({ heard, counted })
  const take = (limiter: RateLimiter, isRefused: boolean): void => {
    const permit = limiter.take(claim, 1)
    if (typeof permit === 'number') return
    permit.answered({ isRefused, cost: 1 })
    permit.ended()
    sent()
  }
  await vi.waitFor(() => {
    take(late, false)
    expect(heard).toHaveBeenCalledExactlyOnceWith({ about: 'policy', text: '{}', for: Infinity })
  })
  await vi.waitFor(() => {
    take(one, true)
    take(late, false)
    expect(counted.mock.calls.reduce((sum, [, refused]) => sum + refused, 0)).toBeGreaterThan(0)
  })
  expect(counted.mock.calls.reduce((sum, [accepted]) => sum + accepted, 0)).toBe(0)
})

test.concurrent('other limits hold at once, and units that are used count in them', async () => {
  await using fleet = new Fleet()
  const sentAt: number[] = []
  let claim = claimOf(3, 2_000)
  const limiter: RateLimiter = fleet.limiterOf({
    unitsAvailable() {
      for (
        let permit = limiter.take(claim, 10);
        typeof permit === 'object';
        permit = limiter.take(claim, 10)
      ) {
        sentAt.push(performance.now())
        permit.answered({ isRefused: false, cost: 1 })
      }
    },
  })
  limiter.take(claim, 10)
  await vi.waitFor(() => expect(sentAt).toHaveLength(3))
  claim = claimOf(5, 2_000)
  limiter.take(claim, 10)
  await vi.waitFor(() => expect(sentAt).toHaveLength(5))
  expect((sentAt[4] ?? 0) - (sentAt[0] ?? 0)).toBeLessThan(2_000)
  await vi.waitFor(() => expect(sentAt.length).toBeGreaterThan(5))
  expect((sentAt[5] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThan(2_000)
})

test.concurrent('an attempt that costs more takes more, and what it costs in the end counts', async () => {
  await using fleet = new Fleet()
  const limiter = fleet.limiterOf()
  const claim = { ...claimOf(10, 3_000), cost: 4 }
  const used = (): number | undefined => limiter.usage(claim).used?.[0]
  const permits: Permit[] = []
  const take = async (): Promise<void> =>
    vi.waitFor(() => {
      const permit = limiter.take(claim, 1)
      if (typeof permit === 'number') throw new Error('no units')
      permits.push(permit)
    })
  await take()
  await take()
  permits[0]?.answered({ isRefused: false, cost: 6 })
  permits[1]?.answered({ isRefused: true, cost: 0 })
  await vi.waitFor(() => {
    limiter.take(claim, 1)
    expect(used()).toBe(10)
  })
  limiter.take(claim, 0)
})

test.concurrent('a limit until a moment frees its units then, and counts what was sent since another', async () => {
  await using fleet = new Fleet()
  const limiter = fleet.limiterOf()
  const start = performance.now()
  const fixed = { series: '', quota: 1, since: start, until: start + 4_000 }
  const claim = {
    ...claimOf(10, 1_000),
    key: 'trial',
    limits: [{ series: '', quota: 10, window: 1_000 }, fixed],
  }
  const take = async (): Promise<Permit> =>
    vi.waitFor(
      () => {
        const permit = limiter.take(claim, 1)
        if (typeof permit === 'number') throw new Error('no units')
        return permit
      },
      { interval: 5 },
    )
  const first = await take()
  first.answered({ isRefused: false, cost: 1 })
  const second = take()
  await second
  expect(performance.now()).toBeGreaterThan(fixed.until)
})

test.concurrent('a call that is given up leaves no place in the queue, and no timer', async () => {
  await using fleet = new Fleet()
  const member = fleet.join({ limits: [{ quota: 1, window: 2_000 }] })
  await member.call()
  const controller = new AbortController()
  const waiting = member.call({ signal: controller.signal })
  const queue = `${fleet.prefix}:limiter:{${baseUrl}}:waiting:`
  await vi.waitFor(async () => expect(await redis.client.zCard(queue)).toBe(1))
  controller.abort(new Error('given up'))
  await expect(waiting).rejects.toThrow('given up')
  await vi.waitFor(async () => expect(await redis.client.zCard(queue)).toBe(0))
})

test.concurrent('all keys of a policy lie in one slot of a cluster, and expire', async () => {
  await using fleet = new Fleet()
  await fleet.join({ limits: [{ quota: 5, window: 100 }] }).call()
  const keys = await redis.client.keys(`${fleet.prefix}:*`)
  expect(keys.length).toBeGreaterThan(1)
  for (const key of keys) {
    expect(key).toContain(`{${baseUrl}}`)
    // -1 is a key without an end; what one holds may be gone already
    expect(await redis.client.pTTL(key)).not.toBe(-1)
  }
})

test.concurrent('a Redis that forgets the script gets it again', async () => {
  await using fleet = new Fleet()
  const member = fleet.join({ limits: [{ quota: 5, window: 100 }] })
  await member.call()
  await redis.client.scriptFlush()
  await member.call()
  expect(ofLimiter(member)).toEqual([])
})

test.concurrent('a Redis without memory: calls go by the own share, and the shared budget comes back by itself', async () => {
  await using server = await startRedis(['--maxmemory', '1'])
  await using fleet = new Fleet()
  const client = await fleet.connect(server.url)
  const member = fleet.join({ limits: [{ quota: 4, window: 200 }] }, { client })
  await Promise.all(Array.from({ length: 5 }, () => member.call()))
  await client.configSet('maxmemory', '0')
  // half of the quota
  expect(Math.min(...gaps([member], 2))).toBeGreaterThan(200)
  await vi.waitFor(() => expect(ofLimiter(member)).toHaveLength(2))
  expect(ofLimiter(member)).toEqual([
    { type: 'limiter.failed', api: baseUrl, reason: 'OOM' },
    { type: 'limiter.recovered', api: baseUrl },
  ])
})

test.concurrent('garbage in the place of a response grants nothing', async () => {
  await using fleet = new Fleet()
  const answers: unknown[] = ['OK', null, [1], '{}', '{"epoch":1,"turn":"a"}', '[]', 'null']
  const client = {
    evalSha: async (...args: Parameters<typeof redis.client.evalSha>) =>
      answers.length > 0 ? answers.shift() : redis.client.evalSha(...args),
    eval: redis.client.eval.bind(redis.client),
  } as RedisClient
  const member = fleet.join({ limits: [{ quota: 4, window: 100 }] }, { client, timeout: 100 })
  expect(await member.call()).toBe(200)
  await vi.waitFor(() => expect(ofLimiter(member)).toHaveLength(2))
  expect(answers).toEqual([])
  expect(ofLimiter(member)[0]).toMatchObject({ reason: 'not a response from the limiter script' })
})

test('a share of less than a call is a call in a longer window', () => {
  const series = 'all'
  const few = { series, quota: 3, window: 1_000 }
  expect(partOf({ ...few, quota: 25 }, 1 / 8)).toEqual(few)
  expect(partOf(few, 1 / 3)).toEqual({ series, quota: 1, window: 1_000 })
  expect(partOf(few, 1 / 6)).toEqual({ series, quota: 1, window: 2_000 })
  expect(partOf({ series, quota: 3, since: 0, until: 9 }, 1 / 6)).toEqual({
    series,
    quota: 1,
    since: 0,
    until: 9,
  })
})

test('wrong options are reported at once', () => {
  for (const none of [undefined, null, 'redis://127.0.0.1'])
    expect(() => redisLimiter(none as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  const right = { client: redis.client as RedisClient, fallbackShare: 1 / 8 }
  const wrong = [
    { client: {} },
    { client: undefined },
    { fallbackShare: -1 },
    { fallbackShare: 2 },
    { fallbackShare: undefined },
    { prefix: '{x}' },
    { timeout: 0 },
    { reconnectTime: Infinity },
    { fallBackShare: 1 },
  ]
  for (const each of wrong)
    expect(() => redisLimiter({ ...right, ...each } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
  expect(() => redisLimiter({ ...right, client: redis.client.legacy() as never })).toThrow(
    '`client` is a client in legacy mode; allowed: the client whose `legacy()` returned it',
  )
  expect(() => redisLimiter({ ...right, fallbackshare: 1 } as never)).toThrow(
    '`fallbackshare` is not an option (did you mean `fallbackShare`?)',
  )
  const { fallbackShare: _, ...withoutShare } = right
  expect(() => redisLimiter(withoutShare as never)).toThrow('`fallbackShare` is missing; allowed: ')
  expect(() => redisLimiter({ ...right, fallbackShare: 3 })).toThrow('`fallbackShare` is 3; allowed: ')
  expect(() => redisLimiter(redis.client as never)).toThrow(
    '`options` is a Redis client; allowed: an object with `client`',
  )
})

test.concurrent('tenants of all processes share one budget in turn', async () => {
  await using fleet = new Fleet()
  const limits = [{ quota: 20, window: 200 }]
  const members = [fleet.join({ limits }), fleet.join({ limits })]
  const names = Array.from({ length: 10 }, (_, index) => `tenant-${index}`)
  await Promise.all(members.flatMap(({ tenants }) => names.map((name) => tenants.get(name).warmUp())))
  for (const { call } of members)
    for (const tenant of names)
      for (let made = 0; made < (tenant === 'tenant-0' ? 500 : 30); made += 1)
        call({ tenant }).catch(() => {})
  const all = (): (string | undefined)[] => members.flatMap(({ sentFor }) => sentFor)
  await vi.waitFor(() => expect(all().length).toBeGreaterThanOrEqual(200), { interval: 20 })
  const before = all().length
  await Promise.all(Array.from({ length: 5 }, async () => members[0]?.call({ tenant: 'late' })))
  // five rounds of 11 tenants, and as many calls of the other process; what was granted before goes first
  expect(all().length - before).toBeLessThanOrEqual(2 * 6 * 11 + 20)
  const counts = names.map((name) => all().filter((each) => each === name).length)
  const sum = counts.reduce((total, count) => total + count, 0)
  const squares = counts.reduce((total, count) => total + count * count, 0)
  expect(sum ** 2 / (counts.length * squares)).toBeGreaterThan(0.98)
  expect(Math.min(...gaps(members, 20))).toBeGreaterThanOrEqual(200)
})

test.concurrent('that nothing remains, as the API says to one process, holds for all of them', async () => {
  await using fleet = new Fleet()
  const limits = [{ quota: 20, window: 4_000 }]
  const [first, second] = [fleet.join({ limits }), fleet.join({ limits })]
  await first.call()
  await second.call()
  expect(second.tokens.status().apis[0]).toMatchObject({ quotaUsed: 0.1, quotaLeft: 18 })
  await first.call({ rateLimit: '"default";r=0;t=2' })
  const said = performance.now()
  expect(first.tokens.status().apis[0]).toHaveProperty('pausedUntil')
  const state = `${fleet.prefix}:limiter:{${baseUrl}}:state`
  await vi.waitFor(async () => expect(await redis.client.hGet(state, 'state')).toContain('pause'))
  await second.call()
  expect(performance.now() - said).toBeGreaterThan(1_800)
})
