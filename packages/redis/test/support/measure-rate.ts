import { startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { redisLimiter } from '../../src/index.ts'
import { connectClient } from '../clients.ts'
import { startBadNetwork } from './bad-network.ts'
import { pass, RateFleet } from './rate-fleet.ts'

/** Which fleet is measured, and for how long. */
export interface Measurement {
  readonly size: number
  readonly quota: number
  /** In milliseconds. */
  readonly window: number
  readonly seconds: number
  /** How many calls of each process wait or are under way at any time. */
  readonly depth: number
  readonly spread?: boolean
  /** How long the API takes, at least and at most, in milliseconds. */
  readonly apiTime?: readonly [number, number]
  /** How long a message to Redis and its reply travel together, in milliseconds. */
  readonly roundTrip?: number
}

/** What a shared rate budget gave, and what it cost Redis. */
export interface Measured {
  readonly calls: number
  /** Calls over what the quota allows, in whole rounds of it. */
  readonly share: number
  /** Calls over what quota, window and API make possible. */
  readonly rate: number
  readonly over: number
  readonly most: number
  readonly perCall: number
  /** Microseconds of Redis for one script: of the script alone, and of all that Redis does for it. */
  readonly usec: number
  readonly usecOfAll: number
  /** Milliseconds of Redis' CPU. */
  readonly redisPer1000Calls: number
  readonly ownPer1000Calls: number
  /** Of one core, in percent. */
  readonly redisCpu: number
  readonly ownCpu: number
  readonly jain: number
  readonly least: number
  readonly greatest: number
  readonly idle: number
  readonly lost: number
  readonly events: number
}

/** Measures managers that share one budget on a Redis server of their own. */
export async function measureRate({
  size,
  quota,
  window,
  seconds,
  depth,
  spread = false,
  apiTime: [least, longest] = [20, 20],
  roundTrip = 0,
}: Measurement): Promise<Measured> {
  await using redis = await startRedis()
  await using network = await startBadNetwork(redis.port, { delay: [roundTrip / 2, roundTrip / 2] })
  const admin = createClient({ url: redis.url })
  await admin.connect()
  /** In milliseconds. */
  const readCpu = async (): Promise<number> => {
    let sum = 0
    for (const [, time] of (await admin.info('cpu')).matchAll(/used_cpu_(?:user|sys):([\d.]+)/g))
      sum += Number(time)
    return sum * 1_000
  }
  const clients = await Promise.all(
    Array.from({ length: Math.min(size, 16) }, (_, index) =>
      connectClient(index % 2 === 0 ? 'redis' : 'ioredis', roundTrip > 0 ? network.url : redis.url),
    ),
  )
  const limiter = (index: number) =>
    redisLimiter({
      client: clients[index % clients.length] as (typeof clients)[0],
      fallbackShare: 1 / size,
      timeout: 2_000,
    })
  try {
    await using fleet = new RateFleet({
      size,
      limits: [{ quota, window }],
      depth,
      apiTime: () => least + Math.random() * (longest - least),
      limiter,
      spread,
    })
    // until the units of the warm-up no longer count in Redis, and each process has had a turn
    await pass(Math.min(60_000, window) + 1_500 + Math.min(60_000, (window * size) / quota))
    const cpuBefore = await readCpu()
    const from = performance.now()
    await admin.configResetStat()
    const ownBefore = process.cpuUsage()
    await pass(seconds * 1_000)
    const used = (await readCpu()) - cpuBefore
    const stats = await admin.info('commandstats')
    const took = performance.now() - from
    const own = process.cpuUsage(ownBefore)
    const { calls, over, most, jain, perProcess, idle } = fleet.result(from)
    const scripts = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])
    return {
      calls,
      share: rounded(
        shareOf(
          fleet.arrivals.filter(({ at }) => at >= from),
          quota,
          window,
        ),
        3,
      ),
      rate: rounded(calls / ((quota / (window + 1 + (least + longest) / 2)) * took), 3),
      over,
      most,
      perCall: rounded(scripts / calls, 2),
      usec: Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(stats)?.[1]),
      usecOfAll: rounded((used * 1_000) / scripts, 0),
      redisPer1000Calls: rounded((used * 1_000) / calls, 0),
      ownPer1000Calls: rounded((own.user + own.system) / calls, 0),
      redisCpu: rounded((used * 100) / took, 1),
      ownCpu: rounded((own.user + own.system) / took / 10, 0),
      jain: rounded(jain, 3),
      least: Math.min(...perProcess),
      greatest: Math.max(...perProcess),
      idle,
      lost: fleet.lost,
      events: fleet.events.length,
    }
  } finally {
    for (const client of clients) client.destroy()
    admin.destroy()
  }
}

function shareOf(arrivals: readonly { readonly at: number }[], quota: number, window: number): number {
  const calls = Math.floor((arrivals.length - 1) / quota) * quota
  return calls / ((arrivals[calls]?.at ?? 0) - (arrivals[0]?.at ?? 0)) / (quota / window)
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
