// Long: Redis servers that crash and hang.
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { startRedis } from '@tokenlane/testing/redis-server'
import { expect, test, vi } from 'vitest'
import type { RateLimiter } from '@tokenlane/core/fleet'
import { type RedisClient, redisLimiter } from '../src/index.ts'
import { connectClient } from './clients.ts'
import { startBadNetwork } from './support/bad-network.ts'
import { pass, RateFleet, type RateFleetOptions } from './support/rate-fleet.ts'
import { useRedis } from './support/use-redis.ts'

// A real Redis, managers that stand for processes, and a server that counts every arrival in every sliding window.

const limit = { quota: 20, window: 500 }
const redis = useRedis()
let fleets = 0

type Shared = Pick<RateFleetOptions, 'size'> & { client: (index: number) => RedisClient }

function startFleet({ size, client }: Shared, prefix = `fleet${(fleets += 1)}`): RateFleet {
  return new RateFleet({
    size,
    limits: [limit],
    depth: 3,
    apiTime: () => 5 + 30 * Math.random(),
    limiter: (index) => redisLimiter({ client: client(index), prefix, fallbackShare: 1 / size }),
  })
}

test.concurrent('keys that are lost, one at a time or all, cost no unit too many', async () => {
  const prefix = `fleet${(fleets += 1)}`
  await using fleet = startFleet({ size: 12, client: () => redis.client }, prefix)
  const key = (part: string): string => `${prefix}:limiter:{https://api.example.com/}:${part}`
  await pass(1_000)
  for (const parts of [
    ['state'],
    ['units:'],
    ['sums:'],
    ['units:', 'sums:'],
    ['waiting:'],
    ['deadlines:'],
    ['*'],
  ]) {
    const keys = parts.includes('*') ? await redis.client.keys(key('*')) : parts.map(key)
    await redis.client.del(keys)
    await pass(1_200)
  }
  const from = performance.now()
  // a machine that is busy takes its time, but every process goes on
  await vi.waitFor(() => expect(fleet.result(from)).toMatchObject({ idle: 0 }))
  await pass(1_200)
  expect({ over: fleet.result().over, lost: fleet.lost }).toEqual({ over: 0, lost: 0 })
})

test.concurrent('a process that is far from Redis stops no other, and takes part', async () => {
  const network = await startBadNetwork(redis.server.port, { delay: [400, 400] })
  const far = await connectClient('ioredis', network.url)
  {
    await using fleet = startFleet({ size: 8, client: (index) => (index === 0 ? far : redis.client) })
    await pass(4_000)
    const from = performance.now()
    await pass(6_000)
    const [, ...others] = fleet.result(from).perProcess
    // 20 in each half second and a round trip, seven eighths of them
    expect(others.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0.8 * 20 * (6_000 / 540) * (7 / 8))
    // a unit that it hears of 400 ms later is mostly past: it uses two in 6 s, by simulation, and none in one of ten times
    await vi.waitFor(() => expect(fleet.result(from).perProcess[0]).toBeGreaterThan(0))
    expect(fleet.result().over).toBe(0)
    expect(fleet.events.filter(({ process }) => process > 0)).toEqual([])
  }
  far.destroy()
  await network[Symbol.asyncDispose]()
})

test.concurrent('Redis down, with the reconnection that clients have by default: none is over, none is lost', async () => {
  await using server = await startRedis()
  const nodeRedis = createClient({ url: server.url })
  nodeRedis.on('error', () => {})
  await nodeRedis.connect()
  const ioRedis = new Redis(server.port).on('error', () => {})
  // each process has a connection of its own
  const clients = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      if (index % 2 > 0) return ioRedis.duplicate().on('error', () => {})
      const client = nodeRedis.duplicate()
      client.on('error', () => {})
      await client.connect()
      return client
    }),
  )
  {
    await using fleet = startFleet({ size: 8, client: (index) => clients[index] as RedisClient })
    await pass(1_000)
    await server.kill()
    await pass(7_000)
    await server.restart()
    const count = (type: string): number => fleet.events.filter((event) => event.type === type).length
    await vi.waitFor(() => expect(count('limiter.recovered')).toBe(count('limiter.failed')))
    expect(count('limiter.failed')).toBeGreaterThan(0)
    const from = performance.now()
    // Redis waits until clients with these defaults are back
    await vi.waitFor(() => expect(fleet.result(from)).toMatchObject({ idle: 0 }))
    await pass(1_000)
    expect({ over: fleet.result().over, lost: fleet.lost }).toEqual({ over: 0, lost: 0 })
  }
  for (const client of [...clients, nodeRedis, ioRedis])
    if ('destroy' in client) client.destroy()
    else client.disconnect()
})

test.concurrent('where a script may not ask for INFO, the budget is kept all the same', async () => {
  await redis.client.sendCommand(['ACL', 'SETUSER', 'narrow', 'on', '>word', '~*', '&*', '+@all', '-info'])
  const client = createClient({ url: redis.server.url, username: 'narrow', password: 'word' })
  await client.connect()
  {
    await using fleet = startFleet({ size: 2, client: () => client })
    await pass(2_000)
    expect(fleet.result()).toMatchObject({ over: 0, idle: 0 })
    expect(fleet.events).toEqual([])
  }
  client.destroy()
})

test('a million units a day take at most 4 MB of Redis, and less than 1 ms a script', async () => {
  const prefix = `fleet${(fleets += 1)}`
  const units = `${prefix}:limiter:{https://api.example.com/}:units:`
  const day = 86_400_000
  const memory = async (): Promise<number> => {
    const keys = await redis.client.keys(`${prefix}:*`)
    const sizes = await Promise.all(keys.map((key) => redis.client.memoryUsage(key, { SAMPLES: 0 })))
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
  }
  const none = (): void => {}
  const limiter: RateLimiter = redisLimiter({ client: redis.client, prefix, fallbackShare: 1 })({
    baseUrl: 'https://api.example.com/',
    unitsAvailable: none,
    heard: none,
    counted: none,
    failed: none,
    recovered: none,
  })
  const limits = [{ series: '', quota: 1_000_000, window: day }]
  const claim = {
    key: '',
    cost: 1,
    limits,
    interval: 0,
    accounting: 'strict',
    unansweredGrace: undefined,
  } as const
  const look = async (): Promise<readonly number[] | undefined> => {
    limiter.take(claim, 1)
    await pass(25)
    limiter.take(claim, 0)
    await pass(25)
    return limiter.usage(claim).used
  }
  await look()
  // a burst that is a minute old, and units of all the day
  await redis.client.eval(
    `local time = redis.call('TIME')
    local now = time[1] * 1000
    for unit = 1, 20000 do
      redis.call('ZADD', KEYS[1], now - (unit <= 10000 and 60000 + unit / 10 or unit * 4000), unit)
    end`,
    { keys: [units] },
  )
  await vi.waitFor(
    async () => {
      await look()
      expect(await redis.client.zCard(units)).toBeLessThan(1_100)
    },
    { interval: 0 },
  )
  const [used = 0] = (await look()) ?? []
  expect(used).toBeGreaterThan(19_800)
  expect(used).toBeLessThanOrEqual(20_001)
  expect(await memory()).toBeLessThan(4_000_000)
  const script = async (): Promise<number> => {
    await redis.client.configResetStat()
    await look()
    const stats = await redis.client.info('commandstats')
    return Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(stats)?.[1])
  }
  // other work on the machine only adds time
  expect(Math.min(await script(), await script(), await script(), await script())).toBeLessThan(1_000)
  await limiter.close()
})
