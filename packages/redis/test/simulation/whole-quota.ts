import type { RedisClient } from '../../src/index.ts'
import { SimulatedFleet } from './simulated-fleet.ts'
import { withSeeds } from './world.ts'

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
export const uneven = '100 to 3,000 ms'
/** How long an API takes, by the name of the distribution. */
export const answerTimes: Readonly<Record<string, (random: () => number) => number>> = {
  '1 ms': () => 1,
  '300 ms': () => 300,
  '2 s': () => 2_000,
  'lognormal, 300 ms': (random) => 300 * Math.exp(0.5 * normal(random)),
  [uneven]: (random) => 100 + 2_900 * random(),
}

const runs = 2

/** What an API with 25 calls a second gives a fleet that learns: the mean of two runs, by two seeds. */
export async function wholeQuota(options: {
  readonly redis: RedisClient
  readonly size: number
  readonly isAlone?: boolean
  /** How long a request and how long a response travels, at least and at most, in milliseconds. */
  readonly network: readonly [number, number]
  readonly answerTime: (random: () => number) => number
  /** How long a run lasts until it counts, and from then on, in seconds. */
  readonly warmUp?: number
  readonly each?: number
}): Promise<{ readonly share: number; readonly refused: number }> {
  const { redis, size, network, answerTime, isAlone = false, warmUp = 240, each = 300 } = options
  const limit = { quota: 25, window: 1_000 }
  let calls = 0
  let refused = 0
  await withSeeds(1, runs, async (seed) => {
    const fleet = new SimulatedFleet({
      redis,
      seed,
      size,
      isAlone,
      limits: [limit],
      accounting: 'learned',
      network: () => network,
      answerTime,
      depth: Math.ceil(240 / size),
      server: { ...limit, isSliding: true },
    })
    await fleet.run(warmUp * 1_000)
    fleet.reset()
    const before = fleet.server?.refused ?? 0
    await fleet.run(each * 1_000)
    refused += (fleet.server?.refused ?? 0) - before
    calls += fleet.result(each * 1_000).calls
  })
  return { share: (calls - refused) / (limit.quota * runs * each), refused: (1_000 * refused) / calls }
}
