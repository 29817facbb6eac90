import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeTime, pass as timePasses } from '../../test/fake-time.ts'
import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import type { Api, Pass } from '../adapter.ts'
import type { RatePolicy } from '../index.ts'

fakeTime()

const policies: fc.Arbitrary<RatePolicy | undefined> = fc.constantFrom(
  undefined,
  { limits: [], concurrency: 1 },
  { limits: [{ quota: 3, window: 1_000 }], maxWait: 3_000 },
  { limits: [{ quota: 5, window: 500 }], concurrency: 2, maxQueued: 3, spread: true },
)

const span = (longest: number): fc.Arbitrary<number | undefined> =>
  fc.option(fc.nat(longest), { nil: undefined })

const calls = fc.array(
  fc.record({
    /** After the call before. */
    after: fc.nat(300),
    api: fc.constantFrom('first', 'second'),
    statuses: fc.array(fc.constantFrom(200, 401, 401, 429, 503), { minLength: 1, maxLength: 4 }),
    takes: fc.nat(100),
    abortedAfter: span(1_500),
    hopAbortedAfter: span(1_000),
    failsUnsent: fc.boolean(),
    isRedirected: fc.boolean(),
  }),
  { minLength: 10, maxLength: 30 },
)

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function abortedAfter(ms: number | undefined): AbortSignal {
  const controller = new AbortController()
  if (ms !== undefined) setTimeout(() => controller.abort(new Error('given up')), ms)
  return controller.signal
}

test.each([
  ['Node', undefined],
  ['a Worker', {}],
])(
  'in %s, whatever becomes of the attempts of clients that make them themselves: nothing is held, and close() ends',
  async (_, socketPair) => {
    if (socketPair !== undefined) vi.stubGlobal('WebSocketPair', socketPair)
    const property = fc.asyncProperty(calls, fc.tuple(policies, policies), async (patterns, both) => {
      // one issuer: the renewals that one API forces put off those of the other
      const apis = ['first', 'second'].map((name, place) => ({
        baseUrl: `https://${name}.example.com/`,
        issuer: 'general',
        // a Worker keeps none
        ratePolicy: socketPair === undefined ? both[place] : undefined,
      }))
      const { tokens, issuer } = fakeService({ maxWait: 2_000 }, { apis })
      let asked = 0
      issuer.respondWith(() => ((asked += 1) % 4 === 3 ? unavailable() : issuer.after(asked * 10)))

      const made = patterns.map(async ({ api: name, statuses, takes, ...call }, index) => {
        await wait(patterns.slice(0, index).reduce((at, before) => at + before.after, call.after))
        const api = tokens.route(`https://${name}.example.com/records`) as Api
        let held: Pass | undefined
        try {
          held = await api.admit({ signal: abortedAfter(call.abortedAfter) })
          for (const status of statuses) {
            if (call.failsUnsent) return
            held.sent()
            await wait(takes)
            const isFinal: boolean = held.report({ status, retryAfter: '1' }) === 'final'
            if (isFinal && !call.isRedirected) return
            // from here on the next pass is the one to release
            const next: Promise<Pass> = isFinal
              ? held.follow({ signal: abortedAfter(call.hopAbortedAfter) })
              : held.next()
            held = undefined
            held = await next
          }
        } catch {
          // given up, refused, or without a token
        } finally {
          held?.release()
        }
      })
      await timePasses(600_000)
      await Promise.all(made)
      for (const { running = 0, queued = 0 } of tokens.status().apis)
        expect([running, queued]).toEqual([0, 0])
      let isClosed = false
      void tokens.close().then(() => (isClosed = true))
      await timePasses(0)
      expect([isClosed, vi.getTimerCount()]).toEqual([true, 0])
    })
    onTestFinished(() => void vi.unstubAllGlobals())
    await fc.assert(property, { numRuns: 50 })
  },
)
