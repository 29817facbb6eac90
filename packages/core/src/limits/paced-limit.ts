import { type Description, duration, flag, list, object, optional, type Reader } from '../options/reader.ts'
import type { ApiClock } from './api-clock.ts'
import { windowAt } from './calendar.ts'
import type { LimitInForce } from './rate-limiter.ts'
import { lengthOf, type Limit, type RateLimit } from './rate-policy.ts'

/** Accepted calls are counted in this many slots of a window. */
const slots = 32
const mostSlots = 4 * slots
/** A burst shows what the API takes if this many calls were refused for each accepted one. */
const muchRefused = 1 / 4
const leastRefused = 2
/** Otherwise this many refusals show it. */
const fewRefusals = 5
/** The factor by which the pace changes: down if nothing is accepted, and up again. */
const half = 0.5
const stepUp = 1.1
/** After how many windows without a refusal the pace goes up, at first and at most. */
const firstPatience = 10
const mostPatience = 160
/** The slowest pace: one thousandth of the limit. */
const slowest = 0.001

/** What one process has found of a limit, as others hear it. */
export interface FoundLimit {
  /** As the policy says, or as the API has shown. */
  readonly quota: number
  readonly window: number
  /** How many calls go in a window. */
  readonly calls: number
  /** How many went in a window before the last step up, until that is known to be right. */
  readonly before: number | undefined
  /** How many went in a window before a few refusals lowered that, and whether fewer calls did not help. */
  readonly lowered: number | undefined
  readonly isNoise: boolean
  /** After how many windows without a refusal the pace goes up. */
  readonly patience: number
  /** How many were accepted in a window, before each of a few refusals. */
  readonly taken: readonly number[]
}

const above0 = duration('above 0')
/** JSON has no `Infinity`; an earlier version leaves it out. */
const orInfinity: Reader<number> = (value, path) =>
  value === null || value === undefined ? Infinity : above0(value, path)

const description: Description<FoundLimit> = {
  quota: orInfinity,
  window: above0,
  calls: orInfinity,
  before: optional(above0),
  lowered: optional(orInfinity),
  isNoise: flag,
  patience: above0,
  taken: list(duration('0 or more'), 'an array'),
}
export const readFoundLimit: Reader<FoundLimit> = object(description)
export const foundOfLimit: string[] = Object.keys(description)

/**
 * One limit, and how many calls the API takes of it: fewer than all where the policy is wrong, or where others use the
 * quota. A quota of `Infinity` stands for the limit of which the policy says nothing.
 */
export class PacedLimit implements FoundLimit {
  readonly limit: Limit
  quota: number
  window: number
  calls: number
  before: number | undefined
  lowered: number | undefined
  isNoise = false
  patience: number = firstPatience
  taken: readonly number[] = []
  readonly #isKnown: boolean
  readonly #slot: number
  #quietSince = Number.NEGATIVE_INFINITY
  /** Accepted calls by the slot of time in which they were sent, the last slot last. */
  #accepted: { slot: number; count: number }[] = []

  constructor(limit: Limit) {
    const { quota } = limit
    const window = lengthOf(limit.window)
    this.limit = limit
    this.quota = this.calls = quota
    this.window = window
    this.#isKnown = quota < Infinity
    this.#slot = window / slots
  }

  get isLower(): boolean {
    return this.calls < this.quota
  }

  /** What is kept now: less than one call in a window is one call in a longer window. */
  get kept(): RateLimit {
    const { calls, window } = this
    return calls >= 1
      ? { quota: Math.floor(calls + 1e-9), window }
      : { quota: 1, window: typeof this.limit.window === 'string' ? window : window / calls }
  }

  /** The limit of one series as it holds at `now`, on the monotonic clock. */
  inForce(series: string, clock: ApiClock, now: number): LimitInForce {
    const { window, timeZone = 'UTC' } = this.limit
    if (typeof window !== 'string') return { series, ...this.kept }
    const { least, most } = clock.bounds(now)
    // the next window begins once it has begun by the slowest clock, and holds what came in it by the fastest one
    const { start, end } = windowAt(now + least, window, timeZone)
    return { series, quota: this.kept.quota, since: start - most, until: end - least }
  }

  accepted(count: number, sentAt: number): void {
    const slot = Math.floor(sentAt / this.#slot)
    const all = this.#accepted
    let index = all.length
    while (index > 0 && (all[index - 1]?.slot ?? slot) > slot) index -= 1
    const last = all[index - 1]
    if (last?.slot === slot) last.count += count
    else all.splice(index, 0, { slot, count })
    if (all.length > mostSlots) all.shift()
  }

  /** Returns how many calls were accepted that were sent from one window before `at` on. */
  acceptedFrom(at: number): number {
    const first = at / this.#slot - slots
    return this.#accepted.reduce((sum, { slot, count }) => (slot >= first ? sum + count : sum), 0)
  }

  /**
   * Sets the pace to what the API took: at once if it refused much, else after a few refusals.
   *
   * @param accepted how many calls it accepted in the window before it refused some.
   */
  lower(accepted: number, refused: number, now: number): void {
    // what few refusals showed long ago says nothing of these
    if (this.#isQuiet(now)) {
      this.taken = []
      this.isNoise = false
      this.lowered = undefined
    }
    this.#quietSince = now
    if (refused >= leastRefused && refused >= accepted * muchRefused)
      this.keepTo(accepted > 0 ? accepted : Math.min(this.calls, refused) * half, accepted + refused, now)
    else if (this.before !== undefined) this.keepTo(this.before, accepted + refused, now)
    else if (!this.isNoise) {
      this.taken = [...this.taken, accepted]
      if (this.taken.length >= fewRefusals) this.#lowerBit(accepted + refused, now)
    }
  }

  #isQuiet(now: number): boolean {
    return now >= this.#quietSince + this.window * this.patience
  }

  /** Lowers the pace once. If that has not helped, the API refuses calls for no reason: back to the pace before. */
  #lowerBit(sent: number, now: number): void {
    const { calls } = this
    const before = this.lowered
    this.isNoise = before !== undefined
    this.keepTo(Math.max(1, ...this.taken), sent, now)
    this.calls = before ?? this.calls
    this.lowered = this.isNoise ? undefined : calls
  }

  /** @param calls - at most this many go in a window. @param sent - how many went when the API refused some. */
  keepTo(calls: number, sent: number, now: number): void {
    this.#quietSince = now
    this.taken = []
    this.before = this.lowered = undefined
    if (calls >= this.calls) return
    if (this.isLower) this.patience = Math.min(mostPatience, this.patience * 2)
    else if (!this.#isKnown) this.quota = sent
    this.calls = Math.max(slowest * this.quota, calls)
  }

  hold(now: number): void {
    this.#quietSince = now
  }

  /** Raises the pace by a step after some windows without a refusal, up to `most`; returns whether it did. */
  raise(most: number, now: number): boolean {
    if (!this.isLower || !this.#isQuiet(now)) return false
    this.#quietSince = now
    this.taken = []
    this.before = this.calls
    this.calls = Math.min(this.quota, this.calls * stepUp, most)
    if (this.isLower) return true
    this.patience = firstPatience
    if (!this.#isKnown) this.quota = this.calls = Infinity
    return true
  }

  take(found: FoundLimit, now: number): void {
    Object.assign(this, found)
    this.hold(now)
  }
}
