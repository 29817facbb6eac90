// What a strict server sees of eight processes that share one budget on Redis, and how many calls get through.
import { setTimeout as wait } from 'node:timers/promises'
import type { RateLimit, SandboxCounts } from '@tokenlane/sandbox'
import type { FleetCall, FleetFigures, FleetOrder } from './children/fleet-worker.ts'
import type { Service } from './children/strict-service.ts'
import { startChild, tellOf } from './support/child.ts'
import { startRedis } from './support/redis.ts'
import { printTable } from './support/table.ts'

const duration = process.argv.includes('--quick') ? 15_000 : 30_000
const processes = 8
/** Until all processes are up, and the first burst is over. */
const warmUp = 4_000
const outage = 10_000

interface Case {
  readonly name: string
  readonly limit: RateLimit
  readonly callers: number
  readonly rest?: number
  /** How long a request and how long a response travels, in milliseconds. */
  readonly delays?: { readonly min: number; readonly max: number }
  /** Redis is killed in mid-run, and started again, empty, after a while. */
  readonly killed?: true
}

const persecond = (quota: number): RateLimit => ({ quota, window: 1_000 })
const cases: readonly Case[] = [
  { name: '25/1 s', limit: persecond(25), callers: 10 },
  { name: '25/1 s, 5 to 15 ms', limit: persecond(25), callers: 10, delays: { min: 5, max: 15 } },
  { name: '25/1 s, 140 to 160 ms', limit: persecond(25), callers: 10, delays: { min: 140, max: 160 } },
  { name: '100/1 s', limit: persecond(100), callers: 40 },
  { name: '100/1 s, 2 calls/s per process', limit: persecond(100), callers: 1, rest: 500 },
  { name: '25/1 s, Redis killed for 10 s', limit: persecond(25), callers: 10, killed: true },
]

const rows: Record<string, string>[] = []
for (const each of cases) rows.push(await measure(each))
printTable(
  `${processes} processes share one rate policy in Redis and call a server that enforces it, for ${duration / 1_000} s per row. Each call and each response is delayed by 0 to 200 ms, unless the row says otherwise.`,
  rows,
)
process.exit()

async function measure({
  name,
  limit,
  callers,
  rest = 0,
  delays = { min: 0, max: 200 },
  killed,
}: Case): Promise<Record<string, string>> {
  const redis = await startRedis()
  const server = startChild('strict-service.ts', {
    ratePolicies: { general: { limits: [limit] } },
    delays,
  })
  const service = await tellOf<Service>(server)
  const order: FleetOrder = {
    service,
    redisUrl: redis.url,
    limits: [limit],
    fallbackShare: 1 / processes,
    callers,
    rest,
    duration: duration + warmUp,
  }
  const telling = Array.from({ length: processes }, () =>
    tellOf<FleetFigures>(startChild('fleet-worker.ts', order)),
  )
  if (killed) {
    await wait(duration / 2)
    await redis.kill()
    await wait(outage)
    await redis.start()
  }
  const figures = await Promise.all(telling)
  const scripts = await redis.scripts()
  server.send('counts')
  const { general } = (await tellOf<SandboxCounts>(server)).apis
  server.kill()
  await redis.kill()

  const all = figures.flatMap(({ calls }) => calls).toSorted((a, b) => a.at - b.at)
  const start = (all[0]?.at ?? 0) + warmUp
  const steady = (calls: readonly FleetCall[]): FleetCall[] =>
    calls.filter(({ at }) => at > start && at < start + duration - 1_000)
  const calls = steady(all)
  const perProcess = figures.map((each) => steady(each.calls).length)
  const rounds = Math.floor((calls.length - 1) / limit.quota) * limit.quota
  const rate = rounds / ((calls[rounds]?.at ?? 0) - (calls[0]?.at ?? 0))
  const waits = calls.map(({ waited }) => waited).toSorted((a, b) => a - b)
  const ms = (part: number): string => `${(waits[Math.floor(waits.length * part)] ?? 0).toFixed(1)} ms`
  const failed = figures.flatMap(({ events }) => events).filter((type) => type === 'limiter.failed')
  return {
    'limit, load': name,
    'share of quota': rest > 0 ? '' : (rate / (limit.quota / limit.window)).toFixed(3),
    'most in any window': `${general.maxInWindow[0]} of ${limit.quota}`,
    '429s': String(general.limited),
    'calls lost': String(figures.flatMap(({ failures }) => failures).length),
    'busiest / least busy': rest > 0 ? '' : (Math.max(...perProcess) / Math.min(...perProcess)).toFixed(3),
    'scripts per call': killed ? '' : (scripts / all.length).toFixed(2),
    'waited p50, p99': `${ms(0.5)}, ${ms(0.99)}`,
    fallbacks: String(failed.length),
  }
}
