import { createTokenManager, type RatePolicy, type TokenManager, type TokenlaneEvent } from '@tokenlane/core'
import type { LimitedApi, RateLimiter } from '@tokenlane/core/fleet'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type RedisClient, redisLimiter } from '../src/index.ts'
import { shareOf } from '../src/fallback-limiter.ts'
import { useRedis } from './support/use-redis.ts'

const timeout = 30_000
const baseUrl = 'https://api.example.com/'

const redis = useRedis()

let managers: TokenManager[]
let prefixes = 0
beforeEach(() => {
  managers = []
  prefixes += 1
})
afterEach(async () => {
  await Promise.all(managers.map((tokens) => tokens.close()))
})

interface Member {
  readonly tokens: TokenManager
  readonly events: TokenlaneEvent[]
  readonly sentAt: number[]
  call(options?: { status?: number; signal?: AbortSignal }): Promise<number>
}

/** A process of the fleet, for all that Redis knows. */
function join(
  ratePolicy: RatePolicy,
  {
    client = redis.client,
    ...options
  }: { client?: RedisClient; timeout?: number; fallbackShare?: number } = {},
): Member {
  const events: TokenlaneEvent[] = []
  const sentAt: number[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
      },
    },
    apis: [{ baseUrl, issuer: 'general', ratePolicy }],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
    observe: (event) => events.push(event),
    limiter: redisLimiter({
      client,
      prefix: `test${prefixes}`,
      fallbackShare: 1 / 2,
      timeout: 5_000,
      ...options,
    }),
  })
  managers.push(tokens)
  return {
    tokens,
    events,
    sentAt,
    async call({ status = 200, signal } = {}) {
      const attempt = async () => {
        sentAt.push(performance.now())
        return { status, result: status, discard() {} }
      }
      return (await tokens.route(baseUrl)?.send(attempt, { signal, replayable: false })) ?? 0
    },
  }
}

const gaps = (members: Member[], quota: number): number[] => {
  const all = members.flatMap(({ sentAt }) => sentAt).toSorted((a, b) => a - b)
  return all.slice(quota).map((at, index) => at - (all[index] ?? 0))
}
const ofLimiter = ({ events }: Member): TokenlaneEvent[] =>
  events.filter(({ type }) => type.startsWith('limiter.'))

test('two managers keep all limits together', { timeout }, async () => {
  const limits = [
    { quota: 4, window: 150 },
    { quota: 7, window: 500 },
  ]
  const members = [join({ limits }), join({ limits })]
  await Promise.all(members.flatMap(({ call }) => Array.from({ length: 6 }, () => call())))
  expect(Math.min(...gaps(members, 4))).toBeGreaterThan(150)
  expect(Math.min(...gaps(members, 7))).toBeGreaterThan(500)
})

test('a pause that one process is asked for holds for all', { timeout }, async () => {
  const members = [
    join({ limits: [{ quota: 100, window: 100 }] }),
    join({ limits: [{ quota: 100, window: 100 }] }),
  ]
  const [first, second] = members as [Member, Member]
  expect(await first.call({ status: 429 })).toBe(429)
  const told = performance.now()
  const sent = await redis.client.info('commandstats')
  await vi.waitFor(async () => expect(await redis.client.info('commandstats')).not.toBe(sent))
  await new Promise((resolve) => setTimeout(resolve, 20))
  await second.call()
  expect((second.sentAt[0] ?? 0) - told).toBeGreaterThan(900)
})

/** The limiter of a process, without calls. */
function limiterOf(limits: RatePolicy['limits'], hooks: Partial<LimitedApi> = {}): RateLimiter {
  const nothing = (): void => {}
  const factory = redisLimiter({ client: redis.client, prefix: `test${prefixes}`, fallbackShare: 1 })
  return factory({
    baseUrl,
    limits,
    spread: false,
    accounting: 'response',
    unitsAvailable: nothing,
    paused: nothing,
    resumed: nothing,
    failed: nothing,
    recovered: nothing,
    ...hooks,
  })
}

test('a pause that one process lifts is lifted for all that wait', { timeout }, async () => {
  const paused = vi.fn<(ms: number) => void>()
  const resumed = vi.fn<() => void>()
  const limits = [{ quota: 5, window: 100 }]
  const one = limiterOf(limits)
  const other = limiterOf(limits, { paused, resumed })
  one.pause?.(60_000)
  await vi.waitFor(() => {
    other.take(1)
    expect(paused).toHaveBeenCalled()
  }, timeout)
  expect(paused.mock.calls[0]?.[0]).toBeGreaterThan(50_000)
  expect(resumed).not.toHaveBeenCalled()
  one.resume?.()
  await vi.waitFor(() => expect(resumed).toHaveBeenCalledOnce(), 10_000)
  await Promise.all([one.close?.(), other.close?.()])
})

test('another policy holds at once, and units that are used count in it', { timeout }, async () => {
  const sentAt: number[] = []
  const limiter: RateLimiter = limiterOf([{ quota: 3, window: 2_000 }], {
    unitsAvailable() {
      for (let permit = limiter.take(10); typeof permit === 'object'; permit = limiter.take(10)) {
        sentAt.push(performance.now())
        permit.answered()
      }
    },
  })
  limiter.take(10)
  await vi.waitFor(() => expect(sentAt).toHaveLength(3), timeout)
  limiter.setPolicy?.({ limits: [{ quota: 5, window: 2_000 }], spread: false, accounting: 'response' })
  limiter.take(10)
  await vi.waitFor(() => expect(sentAt).toHaveLength(5), timeout)
  expect((sentAt[4] ?? 0) - (sentAt[0] ?? 0)).toBeLessThan(2_000)
  await vi.waitFor(() => expect(sentAt.length).toBeGreaterThan(5), timeout)
  expect((sentAt[5] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThan(2_000)
  await limiter.close?.()
})

test('who gives up leaves no place in the queue, and no timer', { timeout }, async () => {
  const member = join({ limits: [{ quota: 1, window: 2_000 }] })
  await member.call()
  const controller = new AbortController()
  const waiting = member.call({ signal: controller.signal })
  const queue = `test${prefixes}:limiter:{${baseUrl}}:queue`
  await vi.waitFor(async () => expect(await redis.client.zCard(queue)).toBe(1))
  controller.abort(new Error('given up'))
  await expect(waiting).rejects.toThrow('given up')
  await vi.waitFor(async () => expect(await redis.client.zCard(queue)).toBe(0))
})

test('all keys of a policy lie in one slot of a cluster, and expire', { timeout }, async () => {
  await join({ limits: [{ quota: 5, window: 100 }] }).call()
  const keys = await redis.client.keys(`test${prefixes}:*`)
  expect(keys.length).toBeGreaterThan(1)
  for (const key of keys) {
    expect(key).toContain(`{${baseUrl}}`)
    // -1 is a key without an end; what one holds may be gone already
    expect(await redis.client.pTTL(key)).not.toBe(-1)
  }
})

test('a Redis that forgets the script gets it again', { timeout }, async () => {
  const member = join({ limits: [{ quota: 5, window: 100 }] })
  await member.call()
  await redis.client.scriptFlush()
  await member.call()
  expect(ofLimiter(member)).toEqual([])
})

test('a Redis without memory: the own share, and back by itself', { timeout }, async () => {
  const member = join({ limits: [{ quota: 4, window: 200 }] }, { timeout: 300 })
  await redis.client.configSet('maxmemory', '1')
  try {
    await Promise.all(Array.from({ length: 5 }, () => member.call()))
  } finally {
    await redis.client.configSet('maxmemory', '0')
  }
  // half of the quota
  expect(Math.min(...gaps([member], 2))).toBeGreaterThan(200)
  await vi.waitFor(() => expect(ofLimiter(member)).toHaveLength(2), { timeout })
  expect(ofLimiter(member)).toEqual([
    { type: 'limiter.failed', api: baseUrl, reason: 'OOM' },
    { type: 'limiter.recovered', api: baseUrl },
  ])
})

test('garbage in the place of an answer is no permit', { timeout }, async () => {
  const answers: unknown[] = ['OK', null, [1], '{}', '{"epoch":"","turn":-1}', '[]', 'null']
  const client = {
    evalSha: async (...args: Parameters<typeof redis.client.evalSha>) =>
      answers.length > 0 ? answers.shift() : redis.client.evalSha(...args),
    eval: redis.client.eval.bind(redis.client),
  } as RedisClient
  const member = join({ limits: [{ quota: 4, window: 100 }] }, { client, timeout: 100 })
  expect(await member.call()).toBe(200)
  await vi.waitFor(() => expect(ofLimiter(member)).toHaveLength(2), { timeout })
  expect(answers).toEqual([])
  expect(ofLimiter(member)[0]).toMatchObject({ reason: 'not an answer of the limiter' })
})

test('a share of less than a call is a call in a longer window', () => {
  expect(shareOf({ quota: 25, window: 1_000 }, 1 / 8)).toEqual({ quota: 3, window: 1_000 })
  expect(shareOf({ quota: 3, window: 1_000 }, 1 / 3)).toEqual({ quota: 1, window: 1_000 })
  expect(shareOf({ quota: 3, window: 1_000 }, 1 / 6)).toEqual({ quota: 1, window: 2_000 })
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
    { fallBackShare: 1 },
  ]
  for (const each of wrong)
    expect(() => redisLimiter({ ...right, ...each } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
  expect(() => redisLimiter({ ...right, fallbackshare: 1 } as never)).toThrow(
    '`fallbackshare` is not an option; allowed: ',
  )
})
