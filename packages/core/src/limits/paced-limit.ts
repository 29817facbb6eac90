import { duration, object, optional, type Reader } from '../options/reader.ts'
import type { ApiClock } from './api-clock.ts'
import { windowAt } from './calendar.ts'
import type { LimitInForce } from './rate-limiter.ts'
import { lengthOf, type Limit, type RateLimit } from './rate-policy.ts'

/** Accepted calls are counted in this many slots of a window. */
const slots = 32
const mostSlots = 4 * slots
/** A burst shows what the API takes if this many calls were refused for each accepted one. */
const muchRefused = 1 / 4
const leastRefused = 3
/** Otherwise this many refusals show it, if each is older than the one before by these windows at most. */
const enoughRefused = 12
const oldWindows = 10
/** The factor by which the pace changes: down if nothing is accepted, and up again. */
const half = 0.5
const stepUp = 1.1
/** After how many windows the pace goes up, at first and at most. */
const firstPatience = 10
const mostPatience = 160
/** The slowest pace: one thousandth of the limit. */
const slowest = 0.001

/** What one process has found of a limit; `Infinity` is left out. */
export interface FoundLimit {
  readonly quota: number | undefined
  readonly window: number
  readonly calls: number | undefined
  readonly before: number | undefined
  readonly patience: number
  readonly doubt: Doubt
}

/** Refusals of few of many calls, in the last windows. */
interface Doubt {
  readonly refused: number
  /** The most calls that were accepted in a window meanwhile. */
  readonly most: number
}

const above0 = duration('above 0')
const noDoubt: Doubt = { refused: 0, most: 1 }

export const readFoundLimit: Reader<FoundLimit> = object<FoundLimit>({
  quota: optional(above0),
  window: above0,
  calls: optional(above0),
  before: optional(above0),
  patience: above0,
  doubt: object<Doubt>({ refused: duration('0 or more'), most: above0 }),
})

/**
 * One limit, and how many calls the API takes of it: fewer than all where the policy is wrong, or where others use the
 * quota. A quota of `Infinity` stands for the limit of which the policy says nothing.
 */
export class PacedLimit {
  readonly limit: Limit
  /** As the policy says, or as the API has shown. */
  quota: number
  window: number
  /** How many calls go in a window. */
  calls: number
  readonly #isKnown: boolean
  readonly #slot: number
  #patience = firstPatience
  /** When the pace changed last. */
  #changedAt = Number.NEGATIVE_INFINITY
  /** Accepted calls by the slot of time in which they were sent, the last slot last. */
  #accepted: { slot: number; count: number }[] = []
  #doubt = noDoubt
  #doubtedAt = Number.NEGATIVE_INFINITY
  /** How many calls went in a window before the last step up, until that is known to be right. */
  #before: number | undefined

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

  /** Returns the most calls accepted of those sent in one window, of the windows that ended after `since` and began before `at`. */
  mostAccepted(since: number, at: number): number {
    const first = Math.floor(since / this.#slot)
    const last = Math.floor(at / this.#slot) + slots - 1
    const sums = this.#accepted.map(({ slot: end }) =>
      end < first || end > last
        ? 0
        : this.#accepted.reduce(
            (sum, { slot, count }) => (slot <= end && slot > end - slots ? sum + count : sum),
            0,
          ),
    )
    return Math.max(0, ...sums)
  }

  /**
   * Sets the pace to what the API took: at once if it refused much, else if it refuses some again and again. Refusals say
   * nothing of a pace that it took: it stood still, and what was sent meanwhile arrived at once, or refuses some for no reason.
   *
   * @param accepted the most calls that it accepted in a window since it last accepted calls again.
   */
  lower(accepted: number, refused: number, now: number): void {
    if (accepted >= this.kept.quota) {
      this.#doubt = noDoubt
      return
    }
    const { refused: before, most } = now < this.#doubtedAt + oldWindows * this.window ? this.#doubt : noDoubt
    this.#doubt = { refused: before + refused, most: Math.max(most, accepted) }
    this.#doubtedAt = now
    const sent = accepted + refused
    if (refused >= leastRefused && refused >= accepted * muchRefused)
      this.keepTo(accepted > 0 ? accepted : Math.min(this.calls, refused) * half, sent, now)
    else if (this.#before !== undefined) this.keepTo(this.#before, sent, now)
    else if (this.#doubt.refused >= enoughRefused) this.keepTo(this.#doubt.most, sent, now)
  }

  /** @param calls - at most this many go in a window. @param sent - how many went when the API refused some. */
  keepTo(calls: number, sent: number, now: number): void {
    this.#doubt = noDoubt
    if (calls >= this.calls) return
    this.#changedAt = now
    if (this.#before !== undefined) this.#patience = Math.min(mostPatience, this.#patience * 2)
    this.#before = undefined
    if (!this.isLower && !this.#isKnown) this.quota = sent
    this.calls = Math.max(slowest * this.quota, calls)
  }

  /** Keeps the pace from rising for some windows from now. */
  hold(now: number): void {
    this.#changedAt = now
  }

  /** Raises the pace by a step after some windows at the last one, up to `most`; returns whether it did. */
  raise(most: number, now: number): boolean {
    if (!this.isLower || now < this.#changedAt + this.window * this.#patience) return false
    this.#changedAt = now
    // the step before was right
    if (this.#before !== undefined) this.#patience = firstPatience
    this.#before = this.calls
    this.calls = Math.min(this.quota, this.calls * stepUp, most)
    if (this.isLower) return true
    this.#patience = firstPatience
    if (!this.#isKnown) this.quota = this.calls = Infinity
    return true
  }

  /** What this process has found, for others. */
  get found(): FoundLimit {
    const [quota, calls] = [finite(this.quota), finite(this.calls)]
    const [before, patience, doubt] = [this.#before, this.#patience, this.#doubt]
    return { quota, window: this.window, calls, before, patience, doubt }
  }

  take({ quota = Infinity, window, calls = quota, before, patience, doubt }: FoundLimit, now: number): void {
    this.quota = quota
    this.window = window
    this.calls = calls
    this.#before = before
    this.#patience = patience
    this.#doubt = doubt
    this.#changedAt = this.#doubtedAt = now
  }
}

function finite(value: number): number | undefined {
  return value < Infinity ? value : undefined
}
