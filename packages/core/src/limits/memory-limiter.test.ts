import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type OneClaim, oneLimiter, type OneLimiter, type OnePermit } from '../../test/one-claim.ts'
import { createRateLimiter } from './memory-limiter.ts'
import type { Permit } from './rate-limiter.ts'
import type { Accounting, RateLimit } from './rate-policy.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const pass = (ms: number): unknown => vi.advanceTimersByTime(ms)
/** 1 ms for the readings of two clocks, and a ten-thousandth for their pace. */
const guard = 1.1

function limiterOf(limits: RateLimit[], options: Partial<OneClaim> = {}): OneLimiter {
  return oneLimiter({ limits, ...options })
}

/** Lets calls go one after the other on one open connection, until round trips of `ms` are known. */
function seeRoundTrips(limiter: OneLimiter, ms: number): void {
  for (let calls = 0; calls < 42; calls += 1) {
    const { permit } = taken(limiter)
    pass(ms)
    permit.answered()
    permit.ended()
  }
}

test('before anything is known a unit comes free one window after its response', () => {
  const limiter = limiterOf([{ quota: 2, window: 1_000 }])
  const [first, second] = [limiter.take(1), limiter.take(1)] as [OnePermit, OnePermit]
  pass(300)
  first.answered()
  pass(200)
  second.answered()
  expect(limiter.take(1)).toBeCloseTo(800 + guard)
  pass(800)
  expect(limiter.take(1)).toBeCloseTo(guard)
  pass(2)
  expect(typeof limiter.take(1)).toBe('object')
  expect(limiter.take(1)).toBeGreaterThan(0)
})

test('with known round trips a unit comes free earlier than that by the shortest one, less its margin', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }])
  seeRoundTrips(limiter, 100)
  pass(2_000)
  const permit = limiter.take(1) as OnePermit
  pass(110)
  permit.answered()
  // 100 ms, less 2 and the half of what one of 110 adds to the mean
  expect(limiter.take(1)).toBeGreaterThan(900 + guard)
  expect(limiter.take(1)).toBeLessThan(903 + guard)
})

test.each([
  ['250 ms', undefined, 250],
  ['what the policy says', 4_000, 4_000],
])('a request without a response has arrived %s after its send', (_what, unansweredGrace, bound) => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }], { unansweredGrace })
  seeRoundTrips(limiter, 100)
  pass(1_000)
  const permit = limiter.take(1) as OnePermit
  pass(50)
  permit.ended()
  permit.answered()
  expect(limiter.take(1)).toBeCloseTo(bound + 1_000 - 50 + guard)
})

test('the first request of a connection has four times as long', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }])
  ;(limiter.take(1) as OnePermit).ended()
  expect(limiter.take(1)).toBeCloseTo(2_000 + guard)
})

test('whatever parts of a unit calls cost, no window has more than the quota, and every call goes in the end', () => {
  const costs = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 5, maxLength: 60 })
  fc.assert(
    fc.property(costs, (tenths) => {
      vi.setSystemTime(0)
      const limiter = limiterOf([{ quota: 3, window: 1_000 }])
      const sent: { at: number; cost: number }[] = []
      for (const cost of tenths.map((tenth) => tenth / 10)) {
        limiter.setPolicy({ limits: [{ quota: 3, window: 1_000 }], cost })
        const { permit, forecasts } = taken(limiter)
        const at = performance.now()
        expect(Math.min(...forecasts)).toBeGreaterThanOrEqual(0)
        sent.push({ at, cost })
        permit.answered({ isRefused: false, cost })
        permit.ended()
        const used = limiter.used()
        const unsent = limiter.take(1)
        if (typeof unsent !== 'number') unsent.cancel()
        expect(limiter.used()).toBeCloseTo(used)
        const inWindow = sent.filter((other) => other.at > at - 1_000)
        expect(inWindow.reduce((sum, other) => sum + other.cost, 0)).toBeLessThan(3 + 1e-6)
      }
    }),
    { numRuns: 200 },
  )
})

test('a request after a response that closed its connection has four times as long, too', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }])
  seeRoundTrips(limiter, 100)
  pass(1_000)
  const { permit } = taken(limiter)
  permit.answered({ isRefused: false, cost: 1, closes: true })
  permit.ended()
  pass(2_000)
  taken(limiter).permit.ended()
  expect(limiter.take(1)).toBeCloseTo(2_000 + guard)
})

test('a process that stands still after a send counts from when it goes on', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }])
  seeRoundTrips(limiter, 10)
  pass(1_000)
  limiter.take(1)
  const late = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 700)
  vi.advanceTimersToNextTimer()
  expect(limiter.take(1)).toBeCloseTo(1_250 + guard)
  late.mockRestore()
})

test('every limit holds at once', () => {
  const limiter = limiterOf([
    { quota: 3, window: 1_000 },
    { quota: 4, window: 60_000 },
  ])
  let sent = 0
  for (let at = 0; at < 59_000; at += 100) {
    const permit = limiter.take(1)
    if (typeof permit !== 'number') {
      permit.answered()
      sent += 1
    }
    pass(100)
  }
  expect(sent).toBe(4)
})

test('a unit of a month counts until its end, however many customers have units of their own after it', () => {
  const limiter = createRateLimiter()
  const [day, now] = [86_400_000, performance.now()]
  const take = (customer: string): unknown =>
    limiter.take(
      {
        key: customer,
        cost: 1,
        limits: [{ series: customer, quota: 1, since: now - 1, until: now + 30 * day }],
        interval: 0,
        accounting: 'strict',
        unansweredGrace: undefined,
      },
      1,
    )
  const first = take('first') as Permit
  first.answered({ isRefused: false, cost: 1 })
  first.ended()
  pass(3 * day)
  for (let others = 0; others < 300; others += 1) take(`other ${others}`)
  expect(take('first')).toBe(27 * day)
})

test('spread keeps sends a fraction of the window apart', () => {
  const limiter = limiterOf([{ quota: 25, window: 1_000 }], { spread: true })
  expect(typeof limiter.take(1)).toBe('object')
  expect(limiter.take(1)).toBe(40)
  pass(39)
  expect(limiter.take(1)).toBe(1)
  pass(1)
  expect(typeof limiter.take(1)).toBe('object')
})

test('the least wait of the n-th call is what the limits alone make it', () => {
  const limiter = limiterOf([{ quota: 10, window: 1_000 }])
  expect(limiter.forecast(10, 0)).toBe(0)
  expect(limiter.forecast(11, 0)).toBeCloseTo(1_000 + guard)
  expect(limiter.forecast(20, 0)).toBeCloseTo(1_000 + guard)
  expect(limiter.forecast(21, 0)).toBeCloseTo(2 * (1_000 + guard))
  expect(limiterOf([{ quota: 10, window: 1_000 }], { spread: true }).forecast(11, 0)).toBeCloseTo(1_001.1)
})

test('a forecast knows how late further units come free, a start that is later, and what is free by then', () => {
  const limiter = limiterOf([{ quota: 2, window: 1_000 }])
  const [first, second] = [limiter.take(1), limiter.take(1)] as [OnePermit, OnePermit]
  first.answered()
  // the first request of a connection: a response could still free its unit a second earlier
  expect(limiter.forecast(1, 0)).toBeCloseTo(guard)
  expect(limiter.forecast(2, 0)).toBeCloseTo(1_000 + guard)
  // to estimate, it takes as long as others
  expect(limiter.forecast(2, 50)).toBeCloseTo(1_050 + guard)
  second.answered()
  expect(limiter.forecast(1, 0)).toBeCloseTo(1_000 + guard)
  expect(limiter.forecast(3, 50)).toBeCloseTo(2_050 + 2 * guard)
  expect(limiter.forecast(1, 50, performance.now() + 5_000)).toBe(5_000)
  expect(limiter.forecast(3, 50, performance.now() + 5_000)).toBeCloseTo(6_050 + guard)
})

test('a quota that is lowered counts what was sent before', () => {
  const limiter = limiterOf([{ quota: 4, window: 1_000 }])
  for (let sent = 0; sent < 4; sent += 1) {
    ;(limiter.take(1) as OnePermit).answered()
    pass(100)
  }
  limiter.setPolicy({ limits: [{ quota: 2, window: 1_000 }], spread: false, accounting: 'strict' })
  expect(limiter.unitsLeft()).toBe(-2)
  // the third that comes free leaves room for one
  expect(limiter.take(1)).toBeCloseTo(800 + guard)
  expect(limiter.forecast(1, 0)).toBeCloseTo(800 + guard)
  expect(limiter.forecast(2, 0)).toBeCloseTo(900 + guard)
  expect(limiter.forecast(3, 0)).toBeCloseTo(800 + 1_000 + 2 * guard)
})

const policies = fc.record({
  limits: fc.array(
    fc.record({ quota: fc.integer({ min: 1, max: 8 }), window: fc.integer({ min: 5, max: 300 }) }),
    { minLength: 1, maxLength: 3 },
  ),
  spread: fc.boolean(),
  accounting: fc.constant<Accounting>('strict'),
})

/** Lets time pass until there is a permit, and tells what all forecasts on the way said of that moment. */
function taken(limiter: OneLimiter): { permit: OnePermit; forecasts: number[] } {
  const forecasts: number[] = []
  for (let waits = 0; waits < 10_000; waits += 1) {
    forecasts.push(performance.now() + limiter.forecast(1, 0))
    const permit = limiter.take(1)
    if (typeof permit !== 'number') return { permit, forecasts }
    // a response that comes before may free a unit
    const timer = setTimeout(() => {}, Math.min(Math.ceil(permit), 100_000))
    vi.advanceTimersToNextTimer()
    clearTimeout(timer)
  }
  throw new Error('starved')
}

// 200 random networks

test('whatever the policy and the network, no window of the server holds more than the quota', () => {
  // by how much longer than the shortest each request and its response travel; one that is given up arrives all the same
  const travels = fc.array(
    fc.record({ there: fc.nat(80), back: fc.nat(80), answered: fc.boolean(), pause: fc.nat(20) }),
    { minLength: 20, maxLength: 60 },
  )
  const network = fc.record({
    there: fc.nat(100),
    back: fc.nat(300),
    unevenness: fc.constantFrom(0, 0.1, 1),
  })
  fc.assert(
    fc.property(policies, travels, network, (policy, calls, least) => {
      const limiter = oneLimiter(policy)
      const sends: number[] = []
      const arrivals: number[] = []
      for (const [index, { there, back, answered, pause }] of calls.entries()) {
        const { permit, forecasts } = taken(limiter)
        sends.push(performance.now())
        // what refuses a call at once must be sure
        expect(Math.max(...forecasts)).toBeLessThanOrEqual(performance.now() + 1e-6)
        // the shortest round trip is seen now and then, as the proof assumes
        const uneven = index % 5 === 0 ? 0 : least.unevenness
        const arrival = least.there + Math.floor(there * uneven)
        const response = arrival + least.back + Math.floor(back * uneven)
        setTimeout(() => arrivals.push(performance.now()), arrival)
        if (answered || uneven === 0)
          setTimeout(() => {
            permit.answered()
            permit.ended()
          }, response)
        else setTimeout(() => permit.ended(), back)
        pass(pause)
      }
      pass(1_000)
      const counted = arrivals.toSorted((a, b) => a - b)
      expect(counted).toHaveLength(calls.length)
      for (const { quota, window } of policy.limits) {
        for (const [index, at] of counted.slice(quota).entries())
          expect(at - (counted[index] ?? 0)).toBeGreaterThan(window)
        if (!policy.spread) continue
        for (const [index, at] of sends.slice(1).entries())
          expect(at - (sends[index] ?? 0)).toBeGreaterThanOrEqual(window / quota)
      }
    }),
    { numRuns: 200 },
  )
})

test('whatever the policy, a backlog goes at least at the rate that the round trip allows', () => {
  fc.assert(
    fc.property(policies, fc.nat(80), (policy, roundTrip) => {
      const limiter = oneLimiter(policy)
      const start = performance.now()
      const calls = 100
      for (let call = 0; call < calls; call += 1) {
        const { permit } = taken(limiter)
        setTimeout(() => {
          permit.answered()
          permit.ended()
        }, roundTrip)
      }
      const took = performance.now() - start
      // timers of whole milliseconds add one for the response and one for the wait
      const lag = 2 + roundTrip
      const rounds = policy.limits.map(
        ({ quota, window }) => Math.ceil(calls / quota) * (window * 1.0001 + 1 + lag),
      )
      const apart = policy.limits.map(({ quota, window }) => calls * (window / quota + 1))
      const slowest = Math.max(...rounds, ...(policy.spread ? apart : []))
      // limits that hold at once may get in step with each other
      expect(took).toBeLessThanOrEqual(slowest * (policy.limits.length === 1 ? 1 : 2))
      pass(1_000)
    }),
    { numRuns: 200 },
  )
})

test('the share in use is that of the fullest limit, and never above 1', () => {
  const limiter = oneLimiter({
    limits: [
      { quota: 4, window: 1_000 },
      { quota: 100, window: 60_000 },
    ],
    spread: false,
    accounting: 'strict',
  })
  expect(limiter.used()).toBe(0)
  const permits = Array.from({ length: 4 }, () => limiter.take(1) as OnePermit)
  expect(limiter.used()).toBe(1)
  for (const permit of permits) permit.answered()
  vi.advanceTimersByTime(1_002)
  expect(limiter.used()).toBe(0.04)
})

test.each([
  ['learned: calls that wait are sent once a quarter of the quota is free', 'learned', 7_000, 1_400],
  ['strict: each call is sent once a unit is free', 'strict', 7_000, 700],
  ['learned, with a window above ten seconds: as strict', 'learned', 11_000, 700],
] as const)('%s', (_what, accounting, window, wait) => {
  const limiter = limiterOf([{ quota: 8, window }], { accounting })
  for (let calls = 0; calls < 8; calls += 1) {
    const { permit } = taken(limiter)
    permit.answered()
    permit.ended()
    pass(700)
  }
  pass(window - 8 * 700 - 700)
  limiter.take(8)
  expect(limiter.take(8)).toBeCloseTo(wait, -1)
  // fewer calls than a batch do not wait for more units than they use
  expect(limiter.take(1)).toBeCloseTo(700, -1)
})
