import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRateLimiter, type Permit, type RateLimiter, type RateLimiterOptions } from './rate-limiter.ts'
import type { RateLimit } from './rate-policy.ts'

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
  const [first, second] = [limiter.take(), limiter.take()] as [Permit, Permit]
  expect(limiter.take()).toBe(Infinity)
  pass(300)
  first.answered()
  pass(200)
  second.answered()
  expect(limiter.take()).toBeCloseTo(800 + guard)
  pass(800)
  expect(limiter.take()).toBeCloseTo(guard)
  pass(2)
  expect(typeof limiter.take()).toBe('object')
  expect(limiter.take()).toBeGreaterThan(0)
})

test('an attempt without a response keeps its unit a second longer, since it may still be on its way', () => {
  const limiter = limiterOf([{ quota: 1, window: 1_000 }])
  const permit = limiter.take() as Permit
  permit.ended()
  permit.answered()
  expect(limiter.take()).toBeCloseTo(2_000 + guard)
})

test('every limit holds at once', () => {
  const limiter = limiterOf([
    { quota: 3, window: 1_000 },
    { quota: 4, window: 60_000 },
  ])
  let sent = 0
  for (let at = 0; at < 59_000; at += 100) {
    const permit = limiter.take()
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
  expect(typeof limiter.take()).toBe('object')
  expect(limiter.take()).toBe(40)
  pass(39)
  expect(limiter.take()).toBe(1)
  pass(1)
  expect(typeof limiter.take()).toBe('object')
})

test('the least wait of the n-th call is what the limits alone make it', () => {
  const limiter = limiterOf([{ quota: 10, window: 1_000 }])
  expect(limiter.forecast(10, 0)).toBe(0)
  expect(limiter.forecast(11, 0)).toBeCloseTo(1_000 + guard)
  expect(limiter.forecast(20, 0)).toBeCloseTo(1_000 + guard)
  expect(limiter.forecast(21, 0)).toBeCloseTo(2 * (1_000 + guard))
  expect(limiterOf([{ quota: 10, window: 1_000 }], { spread: true }).forecast(11, 0)).toBeCloseTo(1_001.1)
})

test('whatever the policy and the network, no window of the server holds more than the quota', () => {
  const limits = fc.array(
    fc.record({ quota: fc.integer({ min: 1, max: 8 }), window: fc.integer({ min: 5, max: 300 }) }),
    { minLength: 1, maxLength: 3 },
  )
  // how long each request and each answer travels, and whether the answer ever comes
  const travels = fc.array(
    fc.record({ there: fc.nat(80), back: fc.nat(80), answered: fc.boolean(), pause: fc.nat(20) }),
    { minLength: 20, maxLength: 60 },
  )
  const run = fc.check(
    fc.property(limits, fc.boolean(), travels, (policy, spread, calls) => {
      const limiter = limiterOf(policy, { spread })
      const arrivals: number[] = []
      for (const { there, back, answered, pause } of calls) {
        let permit = limiter.take()
        for (let waits = 0; typeof permit === 'number'; waits += 1) {
          if (waits > 10_000) throw new Error('starved')
          pass(Math.min(Math.ceil(permit), 10))
          permit = limiter.take()
        }
        const taken = permit
        setTimeout(() => arrivals.push(performance.now()), there)
        setTimeout(() => (answered ? taken.answered() : taken.ended()), there + back)
        pass(pause)
      }
      pass(1_000)
      arrivals.sort((a, b) => a - b)
      for (const { quota, window } of policy)
        for (let last = quota; last < arrivals.length; last += 1)
          if ((arrivals[last] as number) - (arrivals[last - quota] as number) <= window) return false
      return true
    }),
    { numRuns: 200 },
  )
  expect(run.failed, fc.defaultReportMessage(run)).toBe(false)
})
