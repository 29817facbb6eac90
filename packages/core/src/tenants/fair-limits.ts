import { limiterFor } from '../queue/limits.ts'
import { type PauseReason, Pauses } from '../queue/pauses.ts'
import type { RemainingQuota } from '../queue/rate-limit-headers.ts'
import type { LimitedApi, NotBefore, Permit, RateLimiter, RateLimiterFactory } from '../queue/rate-limiter.ts'
import { queueTimer } from '../time/timers.ts'

/**
 * The limits of one API that several tenants share: those with queued calls get one unit each, in turn.
 *
 * A tenant whose turn has come asks for its unit. One that cannot use it, because it has no slot, token or call left, is
 * passed over, and goes to the end when it asks again. One timer runs for all of them, and only while calls are queued.
 */
export class FairLimits {
  readonly #limiter: RateLimiter
  readonly #tenants = new Set<LimitedApi>()
  /** The tenants with queued calls, the next one first, and how many units each of them could use. */
  readonly #waiting = new Map<LimitedApi, number>()
  readonly #pauses = new Pauses((ms) => this.#pause(ms, 'used-up'))
  #sent = 0
  /** Order of the call whose response arrived last. */
  #answered = 0
  /** The tenant that may take a unit, while tenants are served. */
  #turn: LimitedApi | undefined
  #isServing = false
  /** How long the limiter makes the current tenant's queue wait, in ms; 0 before it was asked. */
  #wait = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param create makes the limiter; without it the limits are kept in this process's memory. */
  constructor(api: LimitedApi, create: RateLimiterFactory | undefined) {
    // once, and not for each tenant: the limiter is one for all of them
    const first = (): LimitedApi | undefined => [...this.#tenants][0]
    const limited: LimitedApi = {
      ...api,
      unitsAvailable: () => this.#serve(),
      paused: (ms) => this.#pause(ms, 'refused'),
      resumed: () => this.#resume(),
      failed: (reason) => first()?.failed(reason),
      recovered: () => first()?.recovered(),
    }
    this.#limiter = limiterFor(limited, create)
  }

  /** Returns the limiter of one more tenant. */
  join(tenant: LimitedApi): RateLimiter {
    this.#tenants.add(tenant)
    const pause = this.#pauses.until - performance.now()
    if (pause > 0) tenant.paused(pause)
    const limiter = this.#limiter
    return {
      take: (couldUse) => this.#take(tenant, couldUse),
      forecast: (ahead, roundTrip, from) =>
        limiter.forecast(ahead + this.#wanted(ahead, tenant), roundTrip, from),
      lag: () => limiter.lag?.() ?? 0,
      arrivesWithin: () => limiter.arrivesWithin?.(),
      used: () => limiter.used?.(),
      unitsLeft: () => limiter.unitsLeft?.(),
      reported: (quota) => this.#report(quota),
      pause: (ms) => {
        this.#pause(ms, 'refused', tenant)
        limiter.pause?.(ms)
      },
      resume: () => {
        this.#resume(tenant)
        limiter.resume?.()
      },
      ...(limiter.setPolicy && {
        setPolicy: (policy) => {
          limiter.setPolicy?.(policy)
          this.#serveSoon()
        },
      }),
      noWaiters: () => this.#leave(tenant),
      close: async () => {
        this.#tenants.delete(tenant)
        this.#leave(tenant)
      },
    }
  }

  /** Ends the limiter, after the last call of the last tenant. */
  async close(): Promise<void> {
    await this.#limiter.close?.()
  }

  #take(tenant: LimitedApi, couldUse: number): Permit | NotBefore {
    // it keeps its place in the order, or goes to the end
    this.#waiting.set(tenant, couldUse)
    const [first] = this.#waiting.keys()
    if (tenant !== (this.#isServing ? this.#turn : first)) {
      // finds out how long, and says to the limiter how much is wanted
      this.#serveSoon()
      return Infinity
    }
    const now = performance.now()
    // each tenant waits for a pause by itself, but not for the trial call of another one
    const trial = this.#pauses.until > now ? 0 : this.#pauses.wait(now)
    const permit = trial > 0 ? trial : this.#limiter.take(this.#wanted(Infinity))
    if (typeof permit === 'number') {
      // a limiter that returns 0 or NaN is asked again
      this.#wait = permit > 0 ? permit : 1
      this.#sleep()
      return Infinity
    }
    this.#turn = undefined
    this.#waiting.delete(tenant)
    this.#sent += 1
    const call = { order: this.#sent, sentAt: now }
    this.#pauses.sent(call)
    const ended = (wasSent: boolean): void => {
      this.#pauses.ended(call, wasSent)
      this.#serveSoon()
    }
    return {
      answered: (isRefused) => {
        permit.answered(isRefused)
        this.#answered = call.order
        ended(true)
      },
      ended: () => {
        permit.ended()
        ended(true)
      },
      cancel: () => {
        permit.cancel()
        ended(false)
      },
    }
  }

  /** Returns how many units the waiting tenants could use, `most` each. */
  #wanted(most: number, except?: LimitedApi): number {
    let sum = 0
    for (const [tenant, units] of this.#waiting) if (tenant !== except) sum += Math.min(units, most)
    return sum
  }

  #leave(tenant: LimitedApi): void {
    if (!this.#waiting.delete(tenant)) return
    if (this.#waiting.size > 0) return this.#serveSoon()
    clearTimeout(this.#timer)
    this.#limiter.noWaiters?.()
  }

  /** Serves as soon as the code that runs now has ended: it may still have to judge a response. */
  #serveSoon(): void {
    if (!this.#isServing) queueMicrotask(() => this.#serve())
  }

  /** Gives units in turn for as long as there are any. */
  #serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    this.#wait = 0
    // a tenant that asks again is at the end of them, and is served again
    for (const tenant of this.#waiting.keys()) {
      this.#turn = tenant
      tenant.unitsAvailable()
      if (this.#wait > 0) break
      // it cannot use a unit now, and asks again when it can
      if (this.#turn === tenant) this.#waiting.delete(tenant)
    }
    this.#turn = undefined
    this.#isServing = false
    this.#sleep()
  }

  #sleep(): void {
    clearTimeout(this.#timer)
    if (this.#isServing || this.#waiting.size === 0 || this.#wait === Infinity) return
    this.#timer = queueTimer(this.#wait, () => this.#serve())
  }

  /** Pauses the API for all tenants but the one whose call was refused, which has done so. */
  #pause(ms: number, reason: PauseReason, refused?: LimitedApi): void {
    this.#pauses.begin(ms, reason)
    for (const tenant of this.#tenants) if (tenant !== refused) tenant.paused(ms)
  }

  #resume(by?: LimitedApi): void {
    this.#pauses.end()
    // all of them ask before the first gets a unit
    const wasServing = this.#isServing
    this.#isServing = true
    for (const tenant of this.#tenants) if (tenant !== by) tenant.resumed()
    this.#isServing = wasServing
    this.#serveSoon()
  }

  /** Reads what the response that arrived last reports of what remains. A limiter of several processes does it itself. */
  #report(quota: RemainingQuota): void {
    if (this.#limiter.reported !== undefined) this.#limiter.reported(quota)
    else if (this.#pauses.reported(quota, this.#answered, this.#limiter)) this.#resume()
  }
}
