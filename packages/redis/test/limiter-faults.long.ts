// Long: Redis servers that crash and hang.
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { startRedis } from '@tokenlane/testing/redis-server'
import { expect, test, vi } from 'vitest'
import { fleetPolicy } from '../src/limiter/fleet-policy.ts'
import { type RedisClient, redisLimiter } from '../src/index.ts'
import { Ledger } from '../src/limiter/ledger.ts'
import { Link } from '../src/limiter/link.ts'
import { createExchange } from '../src/limiter/protocol.ts'
import { connectClient } from './clients.ts'
import { startBadNetwork } from './support/bad-network.ts'
import { pass, RateFleet, type RateFleetOptions } from './support/rate-fleet.ts'
import { useRedis } from './support/use-redis.ts'

// A real Redis, managers that stand for processes, and a server that counts every arrival in every sliding window.

const timeout = 60_000
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

test.concurrent('keys that are lost, one at a time or all, cost no unit too many', { timeout }, async () => {
  const prefix = `fleet${(fleets += 1)}`
  await using fleet = startFleet({ size: 12, client: () => redis.client }, prefix)
  const key = (part: string): string => `${prefix}:limiter:{https://api.example.com/}:${part}`
  await pass(1_000)
  for (const part of ['state', 'queue', 'deadlines', 'process:*', '*']) {
    const keys = part.includes('*') ? await redis.client.keys(key(part)) : [key(part)]
    await redis.client.del(keys)
    await pass(1_200)
  }
  const from = performance.now()
  await pass(1_500)
  const { over, calls, idle } = fleet.result(from)
  expect({ over, idle, lost: fleet.lost }).toEqual({ over: 0, idle: 0, lost: 0 })
  expect(calls).toBeGreaterThanOrEqual(2 * limit.quota)
})

test.concurrent('a process that is far from Redis stops no other, and takes part', { timeout }, async () => {
  const network = await startBadNetwork(redis.server.port, { delay: [400, 400] })
  const far = await connectClient('ioredis', network.url)
  {
    await using fleet = startFleet({ size: 8, client: (index) => (index === 0 ? far : redis.client) })
    await pass(4_000)
    const from = performance.now()
    await pass(6_000)
    const { over, perProcess } = fleet.result(from)
    const [ofFar = 0, ...others] = perProcess
    expect(over).toBe(0)
    expect(ofFar).toBeGreaterThan(0)
    // 20 in each half second and a round trip, seven eighths of them
    expect(others.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0.8 * 20 * (6_000 / 540) * (7 / 8))
    expect(fleet.events.filter(({ process }) => process > 0)).toEqual([])
  }
  far.destroy()
  await network[Symbol.asyncDispose]()
})

test.concurrent(
  'Redis down, with the reconnection that clients have by default: none is over, none is lost',
  { timeout },
  async () => {
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
      await vi.waitFor(() => expect(count('limiter.recovered')).toBe(count('limiter.failed')), timeout)
      expect(count('limiter.failed')).toBeGreaterThan(0)
      const from = performance.now()
      // Redis waits until clients with these defaults are back
      await vi.waitFor(() => expect(fleet.result(from)).toMatchObject({ idle: 0 }), timeout)
      await pass(1_000)
      expect({ over: fleet.result().over, lost: fleet.lost }).toEqual({ over: 0, lost: 0 })
    }
    for (const client of [...clients, nodeRedis, ioRedis])
      if ('destroy' in client) client.destroy()
      else client.disconnect()
  },
)

test.concurrent(
  'where a script may not ask for INFO, the budget is kept all the same',
  { timeout },
  async () => {
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
  },
)

test(
  'a million units in an hour are stated in a hundred numbers, and read in under 5 ms',
  { timeout },
  async () => {
    const policy = fleetPolicy([{ quota: 1_000_000, window: 3_600_000 }], false)
    const ledger = new Ledger(policy)
    const batch = ledger.open(1_000_000, 0, 0, 0)
    for (let unit = 0; unit < 1_000_000; unit += 1) ledger.settle(batch, unit * 3.5)
    const units = ledger.state(3_500_000)
    expect(units[0]?.length).toBeLessThanOrEqual(101)
    const exchange = createExchange(new Link(redis.client), 'big', 'big', 'process')
    const message = {
      policy,
      process: 'process',
      units,
      alone: 0,
      away: false,
      refused: false,
      gather: 0,
      promise: 5_000,
      lag: 0,
      times: [],
      roundTrips: [0, 0, 0] as const,
      reported: [] as const,
      pause: 0,
      resume: false,
    }
    const known = { epoch: '', turn: 0, member: 0 }
    await exchange({ ...message, ...known, number: 1, wanted: 0, warm: 0 })
    await redis.client.configResetStat()
    await exchange({ ...message, ...known, number: 2, wanted: 1_000_000, warm: 1_000_000 })
    const stats = await redis.client.info('commandstats')
    const usec = Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(stats)?.[1])
    expect(usec).toBeLessThan(5_000)
  },
)
