import type { RedisClient } from '../../src/index.ts'
import { SimulatedFleet } from './simulated-fleet.ts'

const runs = 2
/** How long a run lasts after its first four minutes, in seconds: 50 processes learn for as long. */
const each = 600

/** What an API with 25 calls a second gives a fleet that learns: the mean of two runs of ten minutes, by two seeds. */
export async function wholeQuota(options: {
  readonly redis: RedisClient
  readonly size: number
  /** How long a request and how long a response travels, at least and at most, in milliseconds. */
  readonly network: readonly [number, number]
  readonly answerTime: (random: () => number) => number
}): Promise<{ readonly share: number; readonly refused: number }> {
  const { redis, size, network, answerTime } = options
  const limit = { quota: 25, window: 1_000 }
  let calls = 0
  let refused = 0
  for (let seed = 1; seed <= runs; seed += 1) {
    const fleet = new SimulatedFleet({
      redis,
      seed,
      size,
      limits: [limit],
      accounting: 'learned',
      network: () => network,
      answerTime,
      depth: Math.ceil(240 / size),
      server: { ...limit, isSliding: true },
    })
    await fleet.run(240_000)
    fleet.reset()
    const before = fleet.server?.refused ?? 0
    await fleet.run(each * 1_000)
    refused += (fleet.server?.refused ?? 0) - before
    calls += fleet.result(each * 1_000).calls
  }
  return { share: (calls - refused) / (limit.quota * runs * each), refused: (1_000 * refused) / calls }
}
