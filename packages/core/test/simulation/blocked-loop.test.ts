import { afterEach, beforeEach, expect, test } from 'vitest'
import { oneLimiter, type OnePermit } from '../one-claim.ts'
import { VirtualClock } from './virtual-clock.ts'

let clock: VirtualClock
beforeEach(() => {
  clock = new VirtualClock()
  clock.install()
})
afterEach(() => clock.uninstall())

const quota = 20
const window = 1_000

/** Sends a quota on new connections, whose set-up waits for a computation of so many ms that begins `after` ms later. */
async function arrivalsOf(computation: number, after: number, connections = 1): Promise<number[]> {
  const limiter = oneLimiter({ limits: [{ quota, window }] })
  const arrivals: number[] = []
  const goOn = async (): Promise<void> => {
    for (;;) {
      const permit = limiter.take(quota)
      if (typeof permit === 'number') {
        if (arrivals.length > 3 * quota) return
        await new Promise((resolve) => setTimeout(resolve, Math.min(permit, 10_000)))
        continue
      }
      send(permit)
    }
  }
  const send = (permit: OnePermit): void => {
    // each turn of a set-up needs the event loop; the request is written after the last one
    const turn = (left: number): void => {
      if (left > 0) return void setTimeout(() => turn(left - 1), 20)
      arrivals.push(clock.now + 20)
      setTimeout(() => {
        permit.answered()
        permit.ended()
      }, 40)
    }
    turn(connections)
  }
  void goOn()
  setTimeout(() => clock.stall(computation), after)
  await clock.pass(20_000)
  return arrivals.toSorted((a, b) => a - b)
}

const cases = [1_200, 2_500, 10_000].flatMap((ms) => [1, 5, 15, 30].map((after) => [ms, after] as const))

test.each(cases)(
  'a computation of %d ms that begins %d ms after first requests: no window holds more than the quota',
  async (ms, after) => {
    for (const connections of [1, 2, 3]) {
      const arrivals = await arrivalsOf(ms, after, connections)
      expect(arrivals.length).toBeGreaterThan(3 * quota)
      for (const [index, at] of arrivals.slice(quota).entries())
        expect(at - (arrivals[index] ?? 0)).toBeGreaterThanOrEqual(window)
    }
  },
)
