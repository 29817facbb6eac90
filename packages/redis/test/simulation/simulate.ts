// Simulates fleets: `node packages/redis/test/simulation/simulate.ts [processes] [quota] [window] [seconds] [seed]`.
import { SimulatedFleet } from './simulated-fleet.ts'

const [size = 200, quota = 25, window = 1_000, seconds = 120, seed = Math.floor(Math.random() * 1e9)] =
  process.argv.slice(2).map(Number)

const fleet = new SimulatedFleet({
  seed,
  size,
  limits: [{ quota, window }],
  spread: process.env['SPREAD'] === '1',
})
const started = performance.now()
const round = (window * size) / quota
const warmUp = Math.max(2 * window, Math.min(2 * round, 120_000))
await fleet.run(warmUp)
fleet.reset()
await fleet.run(seconds * 1_000)
const took = performance.now() - started
const hours = ((seconds * 1_000 + warmUp) * size) / 3_600_000
console.log({
  seed,
  size,
  limit: `${quota} in ${window} ms`,
  ...fleet.result(seconds * 1_000),
  'process-hours': +hours.toFixed(1),
  'process-hours per second': +((hours * 1_000) / took).toFixed(1),
})
