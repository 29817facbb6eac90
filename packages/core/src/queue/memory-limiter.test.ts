import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRateLimiter } from './memory-limiter.ts'
import type { Permit, RateLimiter, RateLimiterOptions } from './rate-limiter.ts'
import type { Accounting, RateLimit } from './rate-policy.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const pass = (ms: number): unknown => vi.advanceTimersByTime(ms)
/** 1 ms for the readings of two clocks, and a ten-thousandth for their pace. */
const guard = 1.1

function limiterOf(limits: RateLimit[], options: Partial<RateLimiterOptions> = {}): RateLimiter {
  return createRateLimiter({ limits, spread: false, accounting: 'response', ...options })
}

test('a unit comes free one window after its response, not after its send', () => {
  const limiter = limiterOf([{ quota: 2, window: 1_000 }])
  const [first, second] = [limiter.take(1), limiter.take(1)] as [Permit, Permit]
  expect(limiter.take(1)).toBe(Infinity)
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

test('an attempt without a response keeps its unit a second longer, since it may still be on its way', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }])
  const permit = limiter.take(1) as Permit
  permit.ended()
  permit.answered()
  expect(limiter.take(1)).toBeCloseTo(2_000 + guard)
})

test('a request that is delivered seconds after its caller gave up is within the grace that is set', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }], { unansweredGrace: 4_000 })
  ;(limiter.take(1) as Permit).ended()
  expect(limiter.take(1)).toBeCloseTo(5_000 + guard)
})

test('the grace for requests without a response grows to the longest round trip', () => {
  const limiter = limiterOf([{ quota: 2, window: 1_000 }])
  const [slow, lost] = [limiter.take(1), limiter.take(1)] as [Permit, Permit]
  pass(3_000)
  slow.answered()
  pass(1_001)
  lost.ended()
  pass(100)
  ;(limiter.take(1) as Permit).answered()
  expect(limiter.take(1)).toBeCloseTo(1_000 + guard)
  // the lost one counts until one window after the longest round trip
  pass(1_002)
  ;(limiter.take(1) as Permit).answered()
  pass(4_001 - 1_102 + 1_000 + guard - 1)
  expect((limiter as Required<RateLimiter>).unitsLeft()).toBe(1)
  pass(2)
  expect((limiter as Required<RateLimiter>).unitsLeft()).toBe(2)
})

test.each([
  ['a grace that is set to it', 3_000, []],
  ['a round trip as long as that', undefined, [3_000]],
])(
  'calls that are given up after 100 ms and delivered after 3 s pass no quota with %s',
  (_what, unansweredGrace, seen) => {
    const limiter = limiterOf([{ quota: 10, window: 1_000 }], { unansweredGrace })
    for (const roundTrip of seen) {
      const permit = limiter.take(1) as Permit
      pass(roundTrip)
      permit.answered()
      pass(1_002)
    }
    const arrivals: number[] = []
    for (let sent = 0; sent < 40;) {
      const permit = limiter.take(1)
      if (typeof permit === 'number') {
        pass(permit === Infinity ? 1 : Math.ceil(permit))
        continue
      }
      sent += 1
      setTimeout(() => permit.ended(), 100)
      // every other request travels slowly
      setTimeout(() => arrivals.push(performance.now()), sent % 2 === 0 ? 3_000 : 5)
    }
    pass(5_000)
    const inOrder = arrivals.toSorted((a, b) => a - b)
    expect(inOrder).toHaveLength(40)
    for (const [index, at] of inOrder.slice(10).entries())
      expect(at - (inOrder[index] ?? 0)).toBeGreaterThan(1_000)
  },
)

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

test('accounted from the send, a unit comes free one window after it, however late the answer', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }], { accounting: 'send' })
  const permit = limiter.take(1) as Permit
  pass(700)
  permit.answered()
  permit.ended()
  expect(limiter.take(1)).toBeCloseTo(300 + guard)
  pass(302)
  expect(typeof limiter.take(1)).toBe('object')
})

test('a forecast knows the round trip, a start that is later, and what is free by then', () => {
  const limiter = limiterOf([{ quota: 2, window: 1_000 }])
  const [first] = [limiter.take(1), limiter.take(1)] as [Permit, Permit]
  first.answered()
  expect(limiter.forecast(1, 50)).toBeCloseTo(1_000 + guard)
  expect(limiter.forecast(2, 50)).toBeCloseTo(1_050 + guard)
  expect(limiter.forecast(3, 50)).toBeCloseTo(2_050 + 2 * guard)
  expect(limiter.forecast(1, 50, performance.now() + 5_000)).toBe(5_000)
  expect(limiter.forecast(2, 50, performance.now() + 5_000)).toBe(5_000)
  expect(limiter.forecast(3, 50, performance.now() + 5_000)).toBeCloseTo(6_050 + guard)
})

test('a quota that is lowered counts what was sent before', () => {
  const limiter = limiterOf([{ quota: 4, window: 1_000 }]) as Required<RateLimiter>
  for (let sent = 0; sent < 4; sent += 1) {
    ;(limiter.take(1) as Permit).answered()
    pass(100)
  }
  limiter.setPolicy({ limits: [{ quota: 2, window: 1_000 }], spread: false, accounting: 'response' })
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
  accounting: fc.constantFrom<Accounting>('response', 'send'),
})

/** Lets time pass until there is a permit, and tells what all forecasts on the way said of that moment. */
function taken(limiter: RateLimiter): { permit: Permit; forecasts: number[] } {
  const forecasts: number[] = []
  for (let waits = 0; waits < 10_000; waits += 1) {
    forecasts.push(performance.now() + limiter.forecast(1, 0))
    const permit = limiter.take(1)
    if (typeof permit !== 'number') return { permit, forecasts }
    pass(permit === Infinity ? 1 : Math.ceil(permit))
  }
  throw new Error('starved')
}

// 200 random networks
const patience = { timeout: 60_000 }

test(
  'whatever the policy and the network, no window of the server holds more than the quota',
  patience,
  () => {
    // how long each request and its answer travel; one that is given up may still be on its way
    const travels = fc.array(
      fc.record({ there: fc.nat(80), back: fc.nat(80), answered: fc.boolean(), pause: fc.nat(20) }),
      { minLength: 20, maxLength: 60 },
    )
    fc.assert(
      fc.property(policies, travels, (policy, calls) => {
        const limiter = createRateLimiter(policy)
        const sends: number[] = []
        const arrivals: number[] = []
        for (const { there, back, answered, pause } of calls) {
          const { permit, forecasts } = taken(limiter)
          sends.push(performance.now())
          // what refuses a call at once must be sure
          expect(Math.max(...forecasts)).toBeLessThanOrEqual(performance.now() + 1e-6)
          setTimeout(() => arrivals.push(performance.now()), there)
          if (answered) setTimeout(() => permit.answered(), there + back)
          else setTimeout(() => permit.ended(), back)
          pass(pause)
        }
        pass(1_000)
        // from the send only what is sent is sure
        const counted = policy.accounting === 'send' ? sends : arrivals.toSorted((a, b) => a - b)
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
  },
)

test('whatever the policy, a backlog goes at the rate that the round trip allows', patience, () => {
  fc.assert(
    fc.property(policies, fc.nat(80), (policy, roundTrip) => {
      const limiter = createRateLimiter(policy)
      const start = performance.now()
      const calls = 100
      const forecast = limiter.forecast(calls, roundTrip)
      for (let call = 0; call < calls; call += 1) {
        const { permit } = taken(limiter)
        setTimeout(() => permit.answered(), roundTrip)
      }
      const took = performance.now() - start
      // timers of whole milliseconds add one for the answer and one for the wait
      const lag = 2 + (policy.accounting === 'response' ? roundTrip : 0)
      const rounds = policy.limits.map(
        ({ quota, window }) => Math.ceil(calls / quota) * (window * 1.0001 + 1 + lag),
      )
      const apart = policy.limits.map(({ quota, window }) => calls * (window / quota + 1))
      const slowest = Math.max(...rounds, ...(policy.spread ? apart : []))
      // limits that hold at once may get in step with each other
      expect(took).toBeLessThanOrEqual(slowest * (policy.limits.length === 1 ? 1 : 2))
      expect(forecast).toBeLessThanOrEqual(took + 1)
      pass(1_000)
    }),
    { numRuns: 200 },
  )
})

test('the share in use is that of the fullest limit, and never above 1', () => {
  const limiter = createRateLimiter({
    limits: [
      { quota: 4, window: 1_000 },
      { quota: 100, window: 60_000 },
    ],
    spread: false,
    accounting: 'response',
  })
  expect(limiter.used?.()).toBe(0)
  const permits = Array.from({ length: 4 }, () => limiter.take(1) as Permit)
  expect(limiter.used?.()).toBe(1)
  for (const permit of permits) permit.answered()
  vi.advanceTimersByTime(1_002)
  expect(limiter.used?.()).toBe(0.04)
})
