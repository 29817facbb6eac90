import { expect, test } from 'vitest'
import { SimulatedFleet } from './simulated-fleet.ts'

// `simulation.long.ts` has fleets of other sizes, policies, networks and faults.
test.each([1, 2, 3])(
  '50 processes at 25 a second, by seed %d: the rate is kept, all get the same, and a call costs one message',
  async (seed) => {
    const fleet = new SimulatedFleet({ seed, size: 50, limits: [{ quota: 25, window: 1_000 }] })
    await fleet.run(5_000)
    fleet.reset()
    await fleet.run(30_000)
    const result = fleet.result(30_000)
    expect(result).toMatchObject({ over: 0, idle: 0 })
    expect(result.rate).toBeGreaterThan(0.97)
    expect(result.jain).toBeGreaterThan(0.98)
    expect(result.messagesPerCall).toBeLessThan(1.5)
  },
)
