import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService } from '../../test/fake-issuer.ts'
import { abortable } from '../time/delay.ts'
import type { ApiStatus, RateLimit, RatePolicy } from '../index.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const policies: fc.Arbitrary<RatePolicy & { readonly limits: readonly RateLimit[] }> = fc.record({
  limits: fc.array(
    fc.record({ quota: fc.integer({ min: 1, max: 6 }), window: fc.integer({ min: 20, max: 400 }) }),
    { maxLength: 3 },
  ),
  spread: fc.boolean(),
  accounting: fc.constantFrom('strict', 'learned'),
  concurrency: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
})

const calls = fc.array(
  fc.record({
    /** After the call before. */
    after: fc.nat(30),
    priority: fc.integer({ min: -1, max: 1 }),
    there: fc.nat(60),
    back: fc.nat(60),
    answers: fc.array(fc.constantFrom(200, 401, 429, 500, 'reset'), { maxLength: 2 }),
    abortedAfter: fc.option(fc.nat(200), { nil: undefined, freq: 4 }),
  }),
  { minLength: 10, maxLength: 40 },
)

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('whatever the policy, the calls and the network: never over, in order, all of them, and nothing is left', async () => {
  await fc.assert(
    fc.asyncProperty(policies, calls, async (ratePolicy, patterns) => {
      const service = fakeService(
        {},
        { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
      )
      const api = service.tokens.route('https://api.example.com/')
      if (api === undefined) throw new Error('no API')
      const arrivals: number[] = []
      const firstSends: number[] = []
      const signals: AbortSignal[] = []
      let underWay = 0
      let mostUnderWay = 0

      const made = patterns.map(async ({ priority, answers, abortedAfter, after, ...travels }, index) => {
        // the shortest round trip is seen now and then, as the proof of the limits assumes
        const { there, back } = index % 4 === 0 ? { there: 0, back: 0 } : travels
        await wait(patterns.slice(0, index).reduce((at, call) => at + call.after, after))
        const controller = new AbortController()
        const { signal } = controller
        signals.push(signal)
        if (abortedAfter !== undefined)
          setTimeout(() => controller.abort(new Error('given up')), abortedAfter)
        const left = [...answers]
        let sent = false
        return api.send(
          async () => {
            if (!sent) firstSends.push(index)
            sent = true
            underWay += 1
            mostUnderWay = Math.max(mostUnderWay, underWay)
            // an abort ends the attempt; its request is on the way all the same
            setTimeout(() => arrivals.push(performance.now()), there)
            try {
              await abortable(wait(there + back), signal)
            } finally {
              underWay -= 1
            }
            const status = left.shift() ?? 200
            if (typeof status === 'string') throw new Error(status)
            return { status, result: status, discard() {} }
          },
          { priority, signal },
        )
      })
      const ended = Promise.allSettled(made)
      await vi.advanceTimersByTimeAsync(3_600_000)
      const outcomes = await ended

      for (const [index, outcome] of outcomes.entries()) {
        const { abortedAfter, answers } = patterns[index] ?? {}
        if (outcome.status === 'fulfilled' || abortedAfter !== undefined) continue
        expect(outcome.reason).toMatchObject({ message: 'reset' })
        expect(answers).toContain('reset')
      }
      expect(mostUnderWay).toBeLessThanOrEqual(ratePolicy.concurrency ?? Infinity)
      // what is learned may be over, which is how it is learned
      const strict = ratePolicy.accounting === 'strict' ? ratePolicy.limits : []
      for (const { quota, window } of strict)
        for (const [index, at] of arrivals.slice(quota).entries())
          expect(at - (arrivals[index] ?? 0)).toBeGreaterThan(window)
      for (const priority of [-1, 0, 1]) {
        const inOrder = firstSends.filter((index) => patterns[index]?.priority === priority)
        expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b))
      }
      const { arrivesWithin, allows, slowed, refusesTokens } = service.tokens.status().apis[0] as ApiStatus
      expect(service.tokens.status().apis[0]).toEqual({
        baseUrl: 'https://api.example.com/',
        issuer: 'general',
        queued: 0,
        running: 0,
        quotaUsed: 0,
        ...(ratePolicy.accounting === 'learned' && { arrivesWithin }),
        ...(allows && { allows }),
        ...(slowed && { slowed }),
        ...(refusesTokens && { refusesTokens }),
        ...(ratePolicy.limits.length > 0 && {
          quotaLeft: Math.min(...(allows ?? ratePolicy.limits).map(({ quota }) => quota)),
        }),
      })
      for (const signal of signals) expect(getEventListeners(signal, 'abort')).toEqual([])
      expect(vi.getTimerCount()).toBe(0)
    }),
    { numRuns: 100 },
  )
})
