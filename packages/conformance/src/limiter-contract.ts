import type { Claim, Permit, RateLimiter, RateLimiterFactory } from '@tokenlane/core/fleet'
import { afterAll, describe, expect, test } from 'vitest'

/** Everything the contract needs to know about a rate limiter. */
export interface LimiterDriver {
  /** The limiter's name in the tests. */
  readonly name: string
  /** The value for the `limiter` option of `createTokenManager`. */
  readonly create: RateLimiterFactory
  /** Closes what all limiters share. */
  close?(): unknown
}

/** In milliseconds. */
const window = 200
const accepted = { isRefused: false, cost: 1 }

/** What is limited: by default nothing. */
interface Policy {
  readonly limits?: readonly { readonly quota: number; readonly window: number }[]
  readonly spread?: boolean
  readonly unansweredGrace?: number
}

function claimOf({ limits = [], spread = false, unansweredGrace }: Policy): Claim {
  return {
    key: '',
    cost: 1,
    limits: limits.map((limit) => ({ series: '', ...limit })),
    interval: spread ? Math.max(0, ...limits.map((limit) => limit.window / limit.quota)) : 0,
    accounting: 'strict',
    unansweredGrace,
  }
}

/** Registers the tests that every rate limiter must pass. They run concurrently, each with its own API. */
export function limiterContract(driver: LimiterDriver): void {
  describe.concurrent(`${driver.name}: the rate limiter contract`, () => {
    const opened: RateLimiter[] = []
    afterAll(async () => {
      await Promise.all(opened.map(async (limiter) => limiter.close()))
      await driver.close?.()
    })

    const open = (policy: Policy): Line => {
      const line = new Line(driver.create, policy)
      opened.push(line.limiter)
      return line
    }

    test('without a limit, every attempt may be sent', async () => {
      const line = open({})
      for (let count = 0; count < 100; count += 1) (await line.next()).answered(accepted)
    })

    test('the whole quota may be sent at once, and one more attempt only a window after the first response', async () => {
      const line = open({ limits: [{ quota: 3, window }] })
      const permits = [await line.next(), await line.next(), await line.next()]
      const answered = performance.now()
      for (const permit of permits) permit.answered(accepted)
      await line.next()
      expect(performance.now() - answered).toBeGreaterThanOrEqual(window)
    })

    test('before the response arrives, the passing of time alone does not free a unit', async () => {
      const line = open({ limits: [{ quota: 1, window }] })
      const permit = await line.next()
      let isNext = false
      const next = line.next().then(() => (isNext = true))
      await new Promise((resolve) => setTimeout(resolve, 1.5 * window))
      expect(isNext).toBe(false)
      permit.answered(accepted)
      line.ask()
      await next
    })

    test('an attempt that was never made gives its unit back at once', async () => {
      const line = open({ limits: [{ quota: 1, window: 2_000 }] })
      const permit = await line.next()
      permit.cancel()
      line.ask()
      const start = performance.now()
      await line.next()
      expect(performance.now() - start).toBeLessThan(1_000)
    })

    test('an attempt that ended without a response frees its unit no sooner than one with a response', async () => {
      const line = open({ limits: [{ quota: 1, window }], unansweredGrace: 100 })
      const permit = await line.next()
      const ended = performance.now()
      permit.ended()
      line.ask()
      await line.next()
      expect(performance.now() - ended).toBeGreaterThanOrEqual(window)
    })

    test('all limits apply at once', async () => {
      const line = open({
        limits: [
          { quota: 2, window },
          { quota: 3, window: 3 * window },
        ],
      })
      const start = performance.now()
      for (let count = 0; count < 4; count += 1) {
        ;(await line.next()).answered(accepted)
        line.ask()
      }
      expect(performance.now() - start).toBeGreaterThanOrEqual(3 * window)
    })

    test('with `spread`, attempts keep their distance', async () => {
      const line = open({ limits: [{ quota: 4, window }], spread: true })
      // not from the first permit, which may be heard of late, and then seems nearer to the next
      const start = performance.now()
      for (let count = 0; count < 4; count += 1) {
        const permit = await line.next()
        permit.answered(accepted)
        line.ask()
      }
      expect(performance.now() - start).toBeGreaterThanOrEqual((3 * window) / 4 - 1)
    })

    test('a server that counts a request at any time between send and response never counts more than the quota', async () => {
      const quota = 5
      const line = open({ limits: [{ quota, window }] })
      const counted: number[] = []
      const underWay: Promise<void>[] = []
      for (let count = 0; count < 4 * quota; count += 1) {
        const permit = await line.next()
        const roundTrip = (count * 7) % 40
        const exchange = async (): Promise<void> => {
          await sleep(count % 3 === 0 ? 0 : roundTrip / 2)
          counted.push(performance.now())
          await sleep(roundTrip)
          permit.answered(accepted)
          line.ask()
        }
        underWay.push(exchange())
      }
      await Promise.all(underWay)
      counted.sort((a, b) => a - b)
      const spans = counted.slice(quota).map((at, index) => at - counted[index]!)
      expect(Math.min(...spans)).toBeGreaterThanOrEqual(window)
    })

    test('its forecast for a lag of 0 is a lower bound', async () => {
      const line = open({ limits: [{ quota: 1, window }] })
      const permit = await line.next()
      permit.answered(accepted)
      // before the forecast, which is from its own now on
      const start = performance.now()
      const forecast = line.limiter.forecast(line.claim, 1, 0)
      await line.next()
      expect(performance.now() - start).toBeGreaterThanOrEqual(forecast - 5)
    })
  })
}

/** Attempts that go one after the other, and ask the limiter as core's queue does. */
class Line {
  readonly limiter: RateLimiter
  readonly claim: Claim
  #waiting: ((permit: Permit) => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(create: RateLimiterFactory, policy: Policy) {
    apis += 1
    const ask = (): void => this.ask()
    this.limiter = create({
      baseUrl: `https://api-${Date.now().toString(36)}-${apis}.example/`,
      unitsAvailable: ask,
      heard() {},
      counted() {},
      failed: (reason) => expect.fail(`the limiter failed: ${reason}`),
      recovered() {},
    })
    this.claim = claimOf(policy)
  }

  /** Returns the permit of the next attempt as soon as the limiter gives one. */
  next(): Promise<Permit> {
    const { promise, resolve } = Promise.withResolvers<Permit>()
    this.#waiting = resolve
    this.ask()
    return promise
  }

  /** Asks again, as the queue does at every change: a unit that is not taken at once is given back. */
  ask(): void {
    clearTimeout(this.#timer)
    if (this.#waiting === undefined) return
    const taken = this.limiter.take(this.claim, 1)
    if (typeof taken === 'object') {
      this.#waiting(taken)
      this.#waiting = undefined
    } else if (taken !== Infinity) this.#timer = setTimeout(() => this.ask(), taken)
  }
}

let apis = 0

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
