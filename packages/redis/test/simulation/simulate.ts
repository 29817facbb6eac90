// Simulates fleets: `node packages/redis/test/simulation/simulate.ts [processes] [quota] [window] [seconds] [seed]`.
import { startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { SimulatedFleet, type SimulationOptions } from './simulated-fleet.ts'

const [size = 200, quota = 25, window = 1_000, seconds = 120, seed = Math.floor(Math.random() * 1e9)] =
  process.argv.slice(2).map(Number)
/** How long requests and responses travel, and how long the API takes, in milliseconds. */
const {
  SPREAD,
  NETWORK = '10,10',
  ANSWER = '0',
  ROUND_TRIP,
  DEPTH = '3',
  ACCOUNTING = 'strict',
} = process.env
const [least = 0, most = 0] = NETWORK.split(',').map(Number)
const [shortest = 0, longest = shortest] = ANSWER.split(',').map(Number)

const redis = await startRedis()
const client = await createClient({ url: redis.url }).connect()
const fleet = new SimulatedFleet({
  redis: client,
  seed,
  size,
  limits: [{ quota, window }],
  spread: SPREAD === '1',
  depth: Number(DEPTH),
  accounting: ACCOUNTING as NonNullable<SimulationOptions['accounting']>,
  network: () => [least, most],
  answerTime: (random) => shortest + random() * (longest - shortest),
  ...(ROUND_TRIP && { roundTrip: () => Number(ROUND_TRIP) }),
  ...(ACCOUNTING === 'learned' && { server: { quota, window, isSliding: true } }),
})
const started = performance.now()
const round = (window * size) / quota
const warmUp =
  Math.max(20_000, 4 * window, Math.min(2 * round, 120_000)) + (ACCOUNTING === 'learned' ? 240_000 : 0)
await fleet.run(warmUp)
fleet.reset()
const refused = fleet.server?.refused ?? 0
await fleet.run(seconds * 1_000)
const result = fleet.result(seconds * 1_000)
console.log({
  seed,
  size,
  limit: `${quota} in ${window} ms`,
  ...result,
  share: (result.calls - ((fleet.server?.refused ?? 0) - refused)) / ((quota * seconds * 1_000) / window),
  refused: ((fleet.server?.refused ?? 0) - refused) / result.calls,
  failures: fleet.processes.reduce((sum, { failures }) => sum + failures, 0),
  took: Math.round(performance.now() - started),
})
client.destroy()
await redis.close()
