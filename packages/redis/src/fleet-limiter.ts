import {
  createUnansweredGrace,
  longestTimer,
  type LimitedApi,
  type Permit,
  type RateLimiter,
} from '@tokenlane/core/fleet'
import { Budget, lease, type Answer } from './budget.ts'
import { inTime, reasonOf } from './in-time.ts'
import { Ledger } from './ledger.ts'
import type { RedisClient } from './redis-client.ts'
import { createOwnShare } from './own-share.ts'
import { Unit, type Owner } from './unit.ts'

export interface FleetOptions {
  readonly client: RedisClient
  readonly prefix: string
  readonly fallbackShare: number
  readonly timeout: number
}

/** How long an answer may wait for other news, so that they are told together, in milliseconds. */
const longestUntold = 250
/** How often a Redis that refuses is asked again, in milliseconds. */
const retryAfter = 250

/**
 * The limiter of one API in one process of a fleet: asks Redis for units while calls wait, and keeps to its own
 * share while Redis does not answer.
 *
 * One message is under way at most. It tells everything that is new, and asks for as much as could go now; Redis
 * says when to come back.
 */
export class FleetLimiter implements RateLimiter {
  readonly #api: LimitedApi
  readonly #timeout: number
  readonly #budget: Budget
  readonly #ledger: Ledger
  readonly #share: RateLimiter
  readonly #owner: Owner
  /** Units that were granted and are handed out now. */
  #ready = 0
  #wanted = 0
  /** Whether Redis has this process in its queue. */
  #queued = false
  /** Whether there is something to tell besides answers. */
  #news = false
  #pauseUntil = Number.NEGATIVE_INFINITY
  #comeBackAt = Number.NEGATIVE_INFINITY
  #soonestAt = Number.NEGATIVE_INFINITY
  #toldAt = Number.NEGATIVE_INFINITY
  #grantedAt = Number.NEGATIVE_INFINITY
  /** Redis does not answer: until then nothing goes, and after that this process's share. */
  #alone = false
  #quietUntil = Number.NEGATIVE_INFINITY
  #retryAt = Number.NEGATIVE_INFINITY
  #talk: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(api: LimitedApi, { client, prefix, fallbackShare, timeout }: FleetOptions) {
    this.#api = api
    this.#timeout = timeout
    this.#budget = new Budget(client, prefix, api, timeout)
    this.#ledger = new Ledger(this.#budget.longest)
    this.#share = createOwnShare(api, fallbackShare)
    this.#owner = {
      grace: createUnansweredGrace(api.unansweredGrace),
      settle: (lag) => {
        this.#ledger.settle(lag)
        this.#plan()
      },
      giveBack: () => {
        this.#ledger.held -= 1
        this.#news = true
        this.#plan()
      },
    }
  }

  take(wanted: number): Permit | number {
    if (this.#ready > 0) {
      this.#ready -= 1
      return this.#unit()
    }
    if (this.#alone) return this.#takeShare()
    this.#wanted = wanted
    this.#plan()
    return Infinity
  }

  noWaiters(): void {
    this.#wanted = 0
    this.#plan()
  }

  /** As if this process were alone in the fleet. */
  forecast(ahead: number, roundTrip: number, from: number = Number.NEGATIVE_INFINITY): number {
    if (this.#alone) return this.#share.forecast(ahead, roundTrip, Math.max(from, this.#quietUntil))
    const now = performance.now()
    const start = Math.max(now, from, this.#soonestAt, this.#wanted > 0 ? this.#comeBackAt : now)
    const { limits, spread, accounting } = this.#api
    const lag = accounting === 'send' ? 0 : roundTrip
    let wait = 0
    for (const { quota, window } of limits) {
      wait = Math.max(wait, Math.floor((ahead - 1) / quota) * (window + lag))
      if (spread) wait = Math.max(wait, (ahead - 1) * (window / quota))
    }
    return start - now + wait
  }

  pause(ms: number): void {
    this.#pauseUntil = Math.max(this.#pauseUntil, performance.now() + ms)
    this.#news = true
    this.#plan()
  }

  async close(): Promise<void> {
    this.#wanted = 0
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#talk
    if (!this.#alone && this.#tellBy() < Infinity) await this.#exchange()
  }

  #unit(share?: Permit): Permit {
    const unit = new Unit(this.#owner, share)
    if (this.#api.accounting === 'send') unit.answered()
    return unit
  }

  #takeShare(): Permit | number {
    const quiet = this.#quietUntil - performance.now()
    if (quiet > 0) return quiet
    const permit = this.#share.take(1)
    if (typeof permit === 'number') return permit
    this.#ledger.held += 1
    return this.#unit(permit)
  }

  /** Sees to it that the next message goes when it must. */
  #plan(): void {
    if (this.#talk !== undefined || this.#closed) return
    clearTimeout(this.#timer)
    const at = this.#alone ? this.#retryAt : Math.min(this.#tellBy(), this.#askBy())
    if (at === Infinity) return
    const wait = at - performance.now()
    if (wait <= 0) return void this.#talkNow()
    this.#timer = setTimeout(() => this.#plan(), Math.min(Math.max(1, Math.ceil(wait)), longestTimer))
    // who waits then waits for the own share, by another timer
    if (this.#alone) this.#timer.unref()
  }

  #tellBy(): number {
    if (this.#news) return Number.NEGATIVE_INFINITY
    const news = this.#ledger.untoldSince + Math.min(longestUntold, this.#budget.shortest / 4)
    const heartbeat = this.#ledger.held > 0 ? this.#toldAt + lease / 3 : Infinity
    const leave = this.#queued && this.#wanted === 0 ? Number.NEGATIVE_INFINITY : Infinity
    return Math.min(news, heartbeat, leave)
  }

  #askBy(): number {
    return this.#wanted > 0 ? this.#comeBackAt : Infinity
  }

  async #talkNow(): Promise<void> {
    this.#talk = this.#exchange()
    await this.#talk
    this.#talk = undefined
    this.#plan()
  }

  async #exchange(): Promise<void> {
    // whatever else happens in this turn is told too
    await Promise.resolve()
    const now = performance.now()
    const untold = this.#ledger.untold(now)
    const { held } = this.#ledger
    const wanted = this.#alone ? 0 : this.#wanted
    this.#news = false
    this.#toldAt = now
    const answering = this.#budget.exchange({
      rejoins: this.#alone,
      held,
      wanted,
      pause: Math.max(0, this.#pauseUntil - now),
      settled: untold.map(({ number, at }) => ({ number, age: now - at })),
    })
    const count = untold.length
    let answer: Answer
    try {
      answer = await inTime(answering, this.#timeout)
    } catch (error) {
      this.#fail(answering, error)
      return
    }
    this.#ledger.told(count)
    this.#queued = wanted > answer.granted
    if (answer.forgot) this.#ledger.tellAgain()
    await this.#hear(answer, now)
  }

  async #hear({ granted, delay, wait, soonest, pause }: Answer, askedAt: number): Promise<void> {
    const now = performance.now()
    this.#comeBackAt = now + wait
    this.#soonestAt = now + soonest
    if (pause > 0) this.#api.paused(pause)
    if (this.#alone) {
      this.#alone = false
      this.#api.recovered()
      this.#api.unitsAvailable()
    }
    if (granted === 0) return
    this.#ledger.held += granted
    // one answer of Redis may travel faster than the one before
    const freeAt = Math.max(now + delay, this.#grantedAt + this.#budget.interval)
    for (let early = freeAt - now; early > 0; early = freeAt - performance.now())
      await new Promise((resolve) => setTimeout(resolve, Math.ceil(early)))
    this.#grantedAt = performance.now()
    // a process that stood still may have been given up
    this.#ready = performance.now() - askedAt < lease / 2 ? granted : 0
    let left = granted - this.#ready
    this.#wanted = 0
    this.#api.unitsAvailable()
    left += this.#ready
    this.#ready = 0
    if (left === 0) return
    this.#ledger.held -= left
    this.#news = true
  }

  #fail(answering: Promise<Answer>, error: unknown): void {
    void this.#askAgain(answering)
    if (this.#alone) return
    this.#alone = true
    this.#queued = false
    this.#quietUntil = performance.now() + this.#budget.quiet
    this.#api.failed(reasonOf(error))
    this.#api.unitsAvailable()
  }

  /** Nobody is asked twice at once: an answer that is late says that Redis is back. */
  async #askAgain(answering: Promise<Answer>): Promise<void> {
    this.#retryAt = Infinity
    let after = 0
    try {
      const { forgot } = await answering
      if (forgot) this.#ledger.tellAgain()
    } catch {
      after = retryAfter * (0.5 + Math.random() / 2)
    }
    this.#retryAt = performance.now() + after
    this.#plan()
  }
}
