import { expect, test } from 'vitest'
import { SimulatedFleet, type SimulationOptions } from './simulated-fleet.ts'
import { useRedis } from '../support/use-redis.ts'
import { wholeQuota } from './whole-quota.ts'

// All at once: what the fleets ask Redis goes there together. `simulation.long.ts` has fleets of other sizes, policies,
// networks and faults.
const redis = useRedis()

test.concurrent.each([1, 2, 3])(
  '50 processes at 25 a second, by seed %d: the rate is kept, all get the same, and a call costs at most seven messages',
  async (seed) => {
    const fleet = new SimulatedFleet({
      redis: redis.client,
      seed,
      size: 50,
      limits: [{ quota: 25, window: 1_000 }],
    })
    await fleet.run(5_000)
    fleet.reset()
    await fleet.run(30_000)
    const result = fleet.result(30_000)
    expect(result).toMatchObject({ over: 0, idle: 0 })
    expect(result.rate).toBeGreaterThan(0.97)
    expect(result.jain).toBeGreaterThan(0.98)
    expect(result.messagesPerCall).toBeLessThan(7)
  },
)

const second = { quota: 25, window: 1_000 }
const uneven = (random: () => number): number => 100 + 2_900 * random()

/** Returns which share of the quota a fleet has whose API counts strictly. */
async function strictShare(
  size: number,
  answerTime: (random: () => number) => number,
  others: Pick<SimulationOptions, 'depth' | 'roundTrip' | 'wayThere'>,
): Promise<number> {
  const network = (): readonly [number, number] => [5, 15]
  const fleet = new SimulatedFleet({
    redis: redis.client,
    seed: 1,
    size,
    limits: [second],
    network,
    answerTime,
    ...others,
  })
  await fleet.run(20_000)
  fleet.reset()
  await fleet.run(60_000)
  const { over, calls } = fleet.result(60_000)
  expect(over).toBe(0)
  return calls / (25 * 60)
}

test.concurrent.each([
  [8, '1 ms', () => 1, 0.95],
  [8, '300 ms', () => 300, 0.95],
  [8, '2 s', () => 2_000, 0.78],
  [8, '100 to 3,000 ms', uneven, 0.78],
  [50, '1 ms', () => 1, 0.95],
  [50, '300 ms', () => 300, 0.95],
  [50, '2 s', () => 2_000, 0.78],
  [50, '100 to 3,000 ms', uneven, 0.78],
])(
  '%d processes whose API answers in %s, strict: none is over, and at least the share of the quota is had that one gets',
  async (size, _kind, answerTime, share) => {
    expect(await strictShare(size, answerTime, { depth: Math.ceil(400 / size) })).toBeGreaterThan(share)
  },
)

test.concurrent('50 processes whose Redis takes 60 ms, wherever it is: none is over, and at most 0.05 of the quota is lost', async () => {
  const away = async (roundTrip: number, others: Pick<SimulationOptions, 'wayThere'> = {}) =>
    strictShare(50, () => 300, { roundTrip: () => roundTrip, ...others })
  const [near, ...far] = await Promise.all([
    away(1),
    // as far there as back; as far as it happens to be; a quarter of it there for one half of them, and back for the other
    away(60, { wayThere: () => 0.5 }),
    away(60),
    away(60, { wayThere: (index) => 0.25 + (index % 2) / 2 }),
    // every second process is busy: its requests leave at once, and it reads each response late
    away(60, { wayThere: (index) => (index % 2 === 0 ? 0.9 : 0.02) }),
  ])
  for (const share of far) expect(near - share).toBeLessThan(0.05)
})

test.concurrent.each([
  [2, 60, 90],
  [4, 40, 120],
  [6, 90, 100],
])(
  '%d of 8 processes are near the API, the requests of the others travel for %d to %d ms: none is over',
  async (near, least, most) => {
    const network = (index: number): readonly [number, number] => (index < near ? [0.5, 1] : [least, most])
    const fleet = new SimulatedFleet({
      redis: redis.client,
      seed: 1,
      size: 8,
      depth: 10,
      limits: [second],
      network,
    })
    await fleet.run(60_000)
    const { over, idle, rate } = fleet.result(60_000)
    expect({ over, idle }).toEqual({ over: 0, idle: 0 })
    expect(rate).toBeGreaterThan(0.75)
  },
)

// `learned-near.long.ts` and `learned-far.long.ts` have the other sizes, networks and response times, for longer
test.concurrent('8 processes that learn, on a network of 0 to 200 ms each way: in its second minute, an API that takes 2 s gives at least 0.85 of its quota, and refuses at most 1.5 of 1,000 calls', async () => {
  const { share, refused } = await wholeQuota({
    redis: redis.client,
    size: 8,
    network: [0, 200],
    answerTime: () => 2_000,
    warmUp: 60,
    each: 60,
  })
  expect(share).toBeGreaterThan(0.85)
  expect(refused).toBeLessThan(1.5)
})
