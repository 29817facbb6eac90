// Long: hours of fleets in simulated time.
import { Random } from '@tokenlane/testing/random'
import { describe, expect, test } from 'vitest'
import { type SimulatedProcess, SimulatedFleet, type SimulationOptions } from './simulated-fleet.ts'
import { useRedis } from '../support/use-redis.ts'
import { withSeeds } from './world.ts'

const redis = useRedis()

// Fleets in simulated time, the same in each run; `FLEETS=12 …` plays others. Of those with random faults, one seed in
// about a hundred is over: 1319558612 by 22 calls.

const seed = Number(process.env['FLEETS'] ?? 11)
const second = { quota: 25, window: 1_000 }
const minute = { quota: 180, window: 60_000 }

/** A fleet that has been running for a while. */
async function warmFleet(
  options: Omit<SimulationOptions, 'seed' | 'redis'>,
  warmUp: number,
): Promise<SimulatedFleet> {
  const fleet = new SimulatedFleet({ redis: redis.client, seed, ...options })
  await fleet.run(warmUp)
  fleet.reset()
  return fleet
}

describe('waiting processes', () => {
  test.each([8, 50, 200, 1_000])(
    '%d at 25 a second: the rate is kept, all get the same, and a call costs few messages',
    async (size) => {
      const round = (size / second.quota) * 1_021
      const fleet = await warmFleet({ size, limits: [second] }, 3_000 + round)
      const time = 20_000 + 8 * round
      await fleet.run(time)
      const result = fleet.result(time)
      expect(result, `seed ${seed}`).toMatchObject({ over: 0, idle: 0 })
      expect(result.rate, `seed ${seed}`).toBeGreaterThan(0.97)
      expect(result.jain, `seed ${seed}`).toBeGreaterThan(0.98)
      expect(result.messagesPerCall, `seed ${seed}`).toBeLessThan(size === 1_000 ? 12 : 7)
      expect(result.longestGap, `seed ${seed}`).toBeLessThan(2 * Math.max(round, 1_021))
    },
  )

  test.each([8, 50, 200, 1_000])(
    '%d at 180 a minute: the rate is kept, and all get the same',
    async (size) => {
      const round = Math.max(1, size / minute.quota) * 60_020
      const fleet = await warmFleet({ size, limits: [minute] }, 130_000 + round)
      const time = 8 * round
      await fleet.run(time)
      const result = fleet.result(time)
      expect(result, `seed ${seed}`).toMatchObject({ over: 0, idle: 0 })
      expect(result.rate, `seed ${seed}`).toBeGreaterThan(0.97)
      expect(result.jain, `seed ${seed}`).toBeGreaterThan(0.98)
      expect(result.messagesPerCall, `seed ${seed}`).toBeLessThan(size === 1_000 ? 12 : 7)
      expect(result.longestGap, `seed ${seed}`).toBeLessThan(2 * round)
    },
  )

  test.each([
    [50, 0, 0.95],
    [200, 0, 0.95],
    // timers and responses come up to 30 ms late, 6 on average
    [50, 30, 0.93],
    [200, 30, 0.93],
    [1_000, 30, 0.93],
  ])(
    '%d with an API that takes 5 to 60 ms, on machines that are %d ms late: the rate is kept',
    async (size, lateness, rate) => {
      const round = (size / second.quota) * 1_034
      const fleet = await warmFleet({ size, limits: [second], apiTime: [5, 60], lateness }, 3_000 + round)
      const time = 20_000 + 4 * round
      await fleet.run(time)
      const result = fleet.result(time)
      expect(result, `seed ${seed}`).toMatchObject({ over: 0, idle: 0 })
      expect(result.rate, `seed ${seed}`).toBeGreaterThan(rate)
      expect(result.jain, `seed ${seed}`).toBeGreaterThan(0.97)
      expect(result.messagesPerCall, `seed ${seed}`).toBeLessThan(size === 1_000 ? 12 : 7)
      expect(result.longestGap, `seed ${seed}`).toBeLessThan(2 * Math.max(round, 1_500))
    },
  )

  test.each([8, 20, 50, 200])(
    '%d at 25 a second with an API that takes 300 ms: the quota is had, also where each call opens a connection',
    async (size) => {
      const answerTime = (): number => 300
      const fleet = await warmFleet({ size, limits: [second], network: () => [5, 15], answerTime }, 20_000)
      await fleet.run(120_000)
      const result = fleet.result(120_000)
      expect(result, `seed ${seed}`).toMatchObject({ over: 0, idle: 0 })
      expect(result.calls / (25 * 120), `seed ${seed}`).toBeGreaterThan(0.96)
      expect(result.jain, `seed ${seed}`).toBeGreaterThan(0.95)
      expect(result.messagesPerCall, `seed ${seed}`).toBeLessThan(7)
    },
  )

  test('with `spread` a call costs few messages too', async () => {
    const fleet = await warmFleet({ size: 50, limits: [second], spread: true }, 5_000)
    await fleet.run(60_000)
    const result = fleet.result(60_000)
    expect(result, `seed ${seed}`).toMatchObject({ over: 0, idle: 0 })
    expect(result.rate, `seed ${seed}`).toBeGreaterThan(0.95)
    expect(result.messagesPerCall, `seed ${seed}`).toBeLessThan(7)
  })
})

describe('processes that are far from Redis', () => {
  test.each(
    [300, 800, 1_500, 3_000].flatMap((roundTrip) =>
      [
        [1, 8],
        [6, 24],
        [1, 24],
        [6, 200],
      ].map(([slow, size]) => [roundTrip, slow, size] as [number, number, number]),
    ),
  )(
    'a round trip of %d ms for %d of %d: the others get what they get without them',
    async (time, slow, size) => {
      const roundTrip = (index: number): number => (index < slow ? time : 1)
      const fleet = await warmFleet({ size, limits: [second], roundTrip }, 30_000)
      await fleet.run(60_000)
      const result = fleet.result(60_000)
      const others = fleet.processes.slice(slow).reduce((sum, { calls }) => sum + calls, 0)
      // what they get without any that is far away is a hundredth less than what is possible
      const usual = 0.99 * ((25 * 60_000) / 1_021) * ((size - slow) / size)
      expect(result.over, `seed ${seed}`).toBe(0)
      expect(others, `seed ${seed}`).toBeGreaterThan((size === 200 ? 0.92 : 0.95) * usual)
      // each takes part
      for (const { calls } of fleet.processes.slice(0, slow)) expect(calls, `seed ${seed}`).toBeGreaterThan(0)
    },
  )

  test.each([260, 300, 800, 3_000])(
    'a round trip of %d ms for 1 of 8 at 180 a minute: it takes part, and the rate is kept',
    async (time) => {
      const roundTrip = (index: number): number => (index === 0 ? time : 1)
      const fleet = await warmFleet({ size: 8, limits: [minute], roundTrip }, 130_000)
      await fleet.run(300_000)
      const { over, idle, rate } = fleet.result(300_000)
      expect({ over, idle }, `seed ${seed}`).toEqual({ over: 0, idle: 0 })
      expect(rate, `seed ${seed}`).toBeGreaterThan(0.97)
    },
  )
})

test.each([
  [80, 90, 300],
  [40, 60, 100],
  [100, 120, 1],
])(
  'processes that are far, %d to %d ms each way, of an API that takes %d ms: none is over when near ones join them',
  async (least, most, answer) => {
    await withSeeds(seed, 6, async (drawn) => {
      const fleet = new SimulatedFleet({
        redis: redis.client,
        seed: drawn,
        size: 8,
        depth: 20,
        limits: [second],
        network: (index) => (index < 3 ? [1, 3] : [least, most]),
        answerTime: () => answer,
      })
      await fleet.run(5_000)
      for (const near of fleet.processes.slice(0, 3)) near.isDead = true
      // longer than their round trips are remembered
      await fleet.run(90_000)
      fleet.reset()
      for (const index of [0, 1, 2]) {
        fleet.start(index)
        await fleet.run(3_000)
      }
      await fleet.run(10_000)
      const { over, calls } = fleet.result(19_000)
      expect(over, `seed ${drawn}`).toBe(0)
      expect(calls / (25 * 19), `seed ${drawn}`).toBeGreaterThan(0.75)
    })
  },
)

/** What may happen to a fleet without a unit too many: all but processes that are cut off alone. */
const faults: Record<
  string,
  (fleet: SimulatedFleet, random: () => number, victim: SimulatedProcess) => void
> = {
  flush: (fleet) => fleet.flush(),
  crash: (fleet, random) => fleet.crash(random() * 20_000),
  still: (fleet, random) => (fleet.stillUntil = fleet.world.now + random() * 10_000),
  stop: (_, random, victim) => victim.stop(random() * 10_000),
  die: (fleet, _, victim) => fleet.start(victim.index),
  cut(fleet, random) {
    for (const each of fleet.processes) each.isCut = true
    fleet.world.after(random() * 15_000, () => {
      for (const each of fleet.processes) each.isCut = false
    })
  },
  'clock back': (fleet, random) => (fleet.clock -= random() * 5_000),
  queue: (fleet) => fleet.flush('waiting'),
  deadlines: (fleet) => fleet.flush('deadlines'),
  units: (fleet) => fleet.flush('units'),
}

describe('random faults', () => {
  test.each([
    [12, second, 10 * 60_000],
    [40, second, 3 * 60_000],
    [12, minute, 60 * 60_000],
    [5, { quota: 20, window: 300 }, 5 * 60_000],
  ])('%d processes, %j: none is over, and every process goes on', async (size, limit, time) => {
    await withSeeds(seed, Number(process.env['RUNS'] ?? 2), async (drawn) => {
      const random = new Random(drawn).next
      const fleet = new SimulatedFleet({
        redis: redis.client,
        seed: drawn,
        size,
        limits: [limit],
        apiTime: [5, 60],
      })
      for (let at = 0; at < time - 180_000; at += random() * 60_000 + 5_000) {
        const happen = Object.values(faults)[Math.floor(random() * 10)] as (typeof faults)[string]
        fleet.world.after(at, () =>
          happen(fleet, random, fleet.processes[Math.floor(random() * size)] as SimulatedProcess),
        )
      }
      await fleet.run(time)
      expect(fleet.result(time).over, `seed ${drawn}`).toBe(0)
      for (const { lastCallAt } of fleet.processes)
        expect(fleet.world.now - lastCallAt, `seed ${drawn}`).toBeLessThan(170_000)
    })
  })

  test.each([
    [2, { quota: 20, window: 200 }, 20],
    [8, second, 20],
    [24, { quota: 20, window: 200 }, 0],
  ])(
    '%d processes, %j, that all stand still for up to 0.3 windows again and again: late responses are known in time',
    async (size, limit, apiTime) => {
      await withSeeds(seed, 4, async (drawn) => {
        const fleet = new SimulatedFleet({
          redis: redis.client,
          seed: drawn,
          size,
          limits: [limit],
          depth: 12,
          apiTime: [apiTime, apiTime],
          lateness: 2,
        })
        const { window } = limit
        for (let at = 4_000; at < 4_000 + 60 * window; at += window * (1.3 + 4 * fleet.random())) {
          const ms = 0.3 * window * fleet.random()
          fleet.world.after(at, () => fleet.processes.forEach((each) => each.stop(ms)))
        }
        await fleet.run(4_000 + 60 * window)
        expect(fleet.result(60 * window), `seed ${drawn}`).toMatchObject({ over: 0, idle: 0 })
      })
    },
  )

  test('a clock that is set back by less than a second again and again: none is over', async () => {
    const fleet = new SimulatedFleet({
      redis: redis.client,
      seed,
      size: 12,
      limits: [second],
      apiTime: [5, 60],
    })
    for (let at = 10_000; at < 150_000; at += 1_500)
      fleet.world.after(at, () => (fleet.clock -= fleet.random() * 950))
    await fleet.run(160_000)
    const { over, idle } = fleet.result(160_000)
    expect({ over, idle }, `seed ${seed}`).toEqual({ over: 0, idle: 0 })
  })

  test('the same seed is the same run', async () => {
    const histories = await Promise.all(
      [1, 1, 2].map(async (same) => {
        const fleet = new SimulatedFleet({
          redis: redis.client,
          seed: same,
          size: 20,
          limits: [second],
          apiTime: [5, 60],
        })
        await fleet.run(20_000)
        return fleet.arrivals.join()
      }),
    )
    expect(histories[0]).toBe(histories[1])
    expect(histories[0]).not.toBe(histories[2])
  })
})

describe('without Redis', () => {
  test.each([
    ['gone for 3 s', 24, 3_000, 0.92, 2_700],
    ['gone for 10 s', 24, 10_000, 0.9, 2_700],
    ['gone for 30 s', 24, 30_000, 0.9, 2_700],
    ['gone for 10 s', 200, 10_000, 0.78, 3_000],
    ['silent for 10 s', 24, 10_000, 0.75, 9_000],
    ['silent for 10 s', 200, 10_000, 0.65, 9_000],
  ] as const)(
    'Redis is %s for %d processes: none is over, and the fleet stands still no longer than it must',
    async (fault, size, ms, leastRate, longestSilence) => {
      await withSeeds(seed, 3, async (drawn) => {
        const fleet = new SimulatedFleet({
          redis: redis.client,
          seed: drawn,
          size,
          limits: [second],
          apiTime: [5, 60],
        })
        await fleet.run(20_000)
        fleet.reset()
        const from = fleet.world.now
        if (fault.startsWith('gone')) fleet.crash(ms)
        else fleet.stillUntil = from + ms
        await fleet.run(30_000 + ms)
        const { over, rate } = fleet.result(30_000 + ms)
        const times = [from, ...fleet.arrivals]
        const silences = times.map((at, index) => at - (times[index - 1] ?? at))
        expect(over, `seed ${drawn}`).toBe(0)
        expect(rate, `seed ${drawn}`).toBeGreaterThan(leastRate)
        expect(Math.max(...silences), `seed ${drawn}`).toBeLessThan(longestSilence)
      })
    },
  )

  test('200 processes with shares of less than a call take turns: none is over', async () => {
    const fleet = await warmFleet({ size: 200, limits: [second], apiTime: [5, 60] }, 20_000)
    fleet.stillUntil = fleet.world.now + 60_000
    await fleet.run(20_000)
    fleet.reset()
    await fleet.run(40_000)
    expect(fleet.result(40_000).calls, `seed ${seed}`).toBeGreaterThan(500)
    await fleet.run(30_000)
    expect(fleet.result(70_000).over, `seed ${seed}`).toBe(0)
  })

  test.each([2_000, 4_000, 5_500, 6_500, 7_000, 8_000, 10_000, 12_500])(
    'clients reconnect as ioredis does by default after %d ms: none is over',
    async (outage) => {
      for (const isEmpty of [false, true])
        await withSeeds(seed, 4, async (drawn) => {
          const fleet = new SimulatedFleet({
            redis: redis.client,
            seed: drawn,
            size: 8,
            limits: [{ quota: 20, window: 500 }],
            apiTime: [5, 35],
          })
          await fleet.run(3_000)
          fleet.reconnect(outage)
          if (isEmpty) fleet.crash(outage)
          await fleet.run(outage + 20_000)
          expect(fleet.result(20_000), `seed ${drawn}, empty: ${isEmpty}`).toMatchObject({ over: 0 })
          fleet.reset()
          await fleet.run(3_000)
          expect(fleet.result(3_000), `seed ${drawn}, empty: ${isEmpty}`).toMatchObject({
            over: 0,
            idle: 0,
          })
        })
    },
  )

  test('messages arrive and all answers are lost: none is over when they come again', async () => {
    await withSeeds(seed, 20, async (drawn) => {
      const fleet = new SimulatedFleet({
        redis: redis.client,
        seed: drawn,
        size: 4,
        limits: [{ quota: 20, window: 300 }],
        apiTime: [0, 60],
        roundTrip: () => 20,
      })
      await fleet.run(3_000)
      for (const each of fleet.processes) each.isDeaf = true
      await fleet.run(8_500 + (drawn - seed) * 250)
      for (const each of fleet.processes) fleet.world.after(fleet.random() * 100, () => (each.isDeaf = false))
      await fleet.run(12_000)
      expect(fleet.result(12_000), `seed ${drawn}`).toMatchObject({ over: 0 })
    })
  })

  test('a share of 0 sends nothing, and goes on when Redis is back', async () => {
    const fleet = await warmFleet({ size: 8, limits: [second], fallbackShare: 0 }, 20_000)
    for (const each of fleet.processes.slice(0, 2)) each.isCut = true
    await fleet.run(30_000)
    expect(fleet.result(30_000).over).toBe(0)
    for (const each of fleet.processes) each.isCut = false
    fleet.reset()
    await fleet.run(30_000)
    expect(fleet.result(30_000)).toMatchObject({ over: 0, idle: 0 })
  })
})
