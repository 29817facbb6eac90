import { expect, test } from 'vitest'
import { SimulatedFleet } from './simulated-fleet.ts'
import { useRedis } from '../support/use-redis.ts'
import { wholeQuota } from './whole-quota.ts'

const redis = useRedis()

// `simulation.long.ts` has fleets of other sizes, policies, networks and faults.
test.each([1, 2, 3])(
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

test.each([
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
    const depth = Math.ceil(400 / size)
    const fleet = new SimulatedFleet({
      redis: redis.client,
      seed: 1,
      size,
      depth,
      limits: [second],
      network: () => [5, 15],
      answerTime,
    })
    await fleet.run(20_000)
    fleet.reset()
    await fleet.run(60_000)
    const { over, calls } = fleet.result(60_000)
    expect(over).toBe(0)
    expect(calls / (25 * 60)).toBeGreaterThan(share)
  },
)

test.each<[string, ((process: number) => number) | undefined]>([
  ['as far there as back', () => 0.5],
  ['as far as it happens to be', undefined],
  ['a quarter of it there for one half of them, and back for the other', (index) => 0.25 + (index % 2) / 2],
])(
  '50 processes whose Redis takes 60 ms, %s: none is over, and at most 0.05 of the quota is lost',
  async (_, wayThere) => {
    const shares = await Promise.all(
      [1, 60].map(async (roundTrip) => {
        const fleet = new SimulatedFleet({
          redis: redis.client,
          seed: 1,
          size: 50,
          limits: [second],
          network: () => [5, 15],
          answerTime: () => 300,
          roundTrip: () => roundTrip,
          ...(wayThere && { wayThere }),
        })
        await fleet.run(20_000)
        fleet.reset()
        await fleet.run(60_000)
        const { over, calls } = fleet.result(60_000)
        expect(over).toBe(0)
        return calls / (25 * 60)
      }),
    )
    expect(Number(shares[0]) - Number(shares[1])).toBeLessThan(0.05)
  },
)

test.each([
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

// `simulation.long.ts` has the other sizes, networks and response times
test('8 processes that learn, on a network of 0 to 200 ms each way: an API that takes 2 s gives at least 0.85 of its quota, and refuses at most 1.5 of 1,000 calls', async () => {
  const { share, refused } = await wholeQuota({
    redis: redis.client,
    size: 8,
    network: [0, 200],
    answerTime: () => 2_000,
  })
  expect(share).toBeGreaterThan(0.85)
  expect(refused).toBeLessThan(7)
})
