// What a shared rate budget costs and gives, measured: `pnpm fleet:rate [processes] [quota] [window] [seconds]`.
import { startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { redisLimiter } from '../src/index.ts'
import { connectClient } from './clients.ts'
import { pass, RateFleet } from './support/rate-fleet.ts'

const [size = 8, quota = 25, window = 1_000, seconds = 15, depth = 3] = process.argv.slice(2).map(Number)

/** In seconds. */
async function readRedisCpu(): Promise<number> {
  const info = await admin.info('cpu')
  const used = info.matchAll(/used_cpu_(?:user|sys):([\d.]+)/g)
  return Array.from(used, ([, time]) => Number(time)).reduce((sum, each) => sum + each, 0)
}

await using redis = await startRedis()
const admin = createClient({ url: redis.url })
await admin.connect()
const clients = await Promise.all(
  Array.from({ length: Math.min(size, 16) }, (_, index) =>
    connectClient(index % 2 === 0 ? 'redis' : 'ioredis', redis.url),
  ),
)
const limits = [{ quota, window }]
const limiter = (index: number) =>
  redisLimiter({
    client: clients[index % clients.length] as (typeof clients)[0],
    fallbackShare: 1 / size,
    timeout: 2_000,
  })
{
  await using fleet = new RateFleet({
    size,
    limits,
    depth,
    apiTime: () => 20,
    limiter,
    spread: process.env['SPREAD'] === '1',
  })
  // until Redis knows of no units before, and every process has had a turn
  await pass(Math.min(60_000, window) + 1_500 + Math.min(60_000, (window * size) / quota))
  const redisCpu = await readRedisCpu()
  const from = performance.now()
  await admin.configResetStat()
  const cpu = process.cpuUsage()
  await pass(seconds * 1_000)
  const redisUsed = (await readRedisCpu()) - redisCpu
  const stats = await admin.info('commandstats')
  const took = performance.now() - from
  const used = process.cpuUsage(cpu)
  const result = fleet.result(from)
  const scripts = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])
  const usec = Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(stats)?.[1])
  const possible = (quota / (window + 21)) * took
  console.log(
    JSON.stringify({
      size,
      quota,
      window,
      calls: result.calls,
      rate: +(result.calls / possible).toFixed(3),
      over: result.over,
      most: result.most,
      perCall: +(scripts / result.calls).toFixed(2),
      // of the script alone, and of all that Redis does for it
      usec,
      'usec of all': Math.round((redisUsed * 1e6) / scripts),
      'redis cpu': `${((redisUsed * 1e5) / took).toFixed(1)} %`,
      jain: +result.jain.toFixed(3),
      least: Math.min(...result.perProcess),
      greatest: Math.max(...result.perProcess),
      idle: result.idle,
      lost: fleet.lost,
      ownCpu: Math.round((used.user + used.system) / took / 10),
      events: fleet.events.length,
    }),
  )
}
for (const client of clients) client.destroy()
admin.destroy()
