import { type Claim, defaultGrace, isSliding, type LimitInForce, unitSpan } from '@tokenlane/core/fleet'
import { type Keeping, membersOf, setOf, type WantedUnits } from './exchange.ts'

/** The least time for which a unit counts as under way while its process reports nothing, in milliseconds. */
const lease = 5_000
/** How far ahead Redis grants units at most: in milliseconds, and as a part of the span. */
const longestAhead = 250
const aheadOfSpan = 1 / 8
/** The latest time after which an attempt is reported to Redis, in milliseconds. */
const longestUnreported = 1_000
/** Longer limits count their older units in slots of a hundredth, in milliseconds. */
const longSpan = 600_000
/** A slot of a day's limit; shorter ones divide it, so that slots begin with the hours of all time zones. */
const longestSlot = 900_000
const shortestKept = 10_000
/** For how long Redis keeps the keys of an empty series, in milliseconds. */
const unusedKept = 60_000
/** A unit blocks new grants for this long at most, in milliseconds: no outage stops an API for longer. */
const longestBlock = 60_000
/** A unit that was granted ahead may be used and reported late: by this and half of the span, in milliseconds, up to `mostLate`. */
const lateUse = 200
const mostLate = 1_000
/** How long a unit may be used after it was due, in milliseconds. */
export const useWithin = 50
/** How late a waiting process may come before others take its turn, in milliseconds. */
const lateness = 50
/** For how long a connection is open, in milliseconds: in longer windows, units come free later. */
const keptOpen = 3_000
/** How often a process asks while all units come free at one moment, in milliseconds: the least and the most time between. */
const looks = [100, 2_000] as const
/** The same while others may give units back: in milliseconds, and as a part of the span. */
const leastLook = 100
const lookOfSpan = 1 / 20

/**
 * With `accounting: 'learned'`, units gather for this part of the span at most, or until this part of the quota is free: the
 * gap between two batches lies where one window ends and the next begins, so a request that travels longer harms nothing.
 */
const gatherOfSpan = 1 / 10
const batchOfQuota = 1 / 5
const longestBatched = 10_000

interface Reached {
  readonly isTeaching: boolean
  readonly now: number
  readonly roundTrip: number
  readonly lag: number
  readonly arrivesWithin: number
}

export const keepsNothing: Keeping = { longest: 0, lifetime: 0, short: 0, width: 0, keep: 0 }

/** How Redis counts what attempts of one kind take; times in milliseconds. */
export class CountedClaim {
  readonly claim: Claim
  /** Redis counts whole units: a part of one is one more. */
  readonly cost: number
  readonly #spans: readonly number[]
  readonly series: readonly string[]
  readonly shortestSpan: number
  readonly longestSpan: number
  /** How soon Redis hears of an attempt: after its send, if there is no response by then, and after its response. */
  readonly tellWithin: { readonly sent: number; readonly answered: number }
  /** For how long a unit counts as under way while the process says nothing of it. */
  readonly #bound: number

  constructor(claim: Claim) {
    this.claim = claim
    this.cost = Math.ceil(claim.cost)
    this.series = [...new Set(claim.limits.map(({ series }) => series))]
    this.#spans = claim.limits.map(spanOf)
    this.shortestSpan = Math.min(60_000, ...this.#spans)
    this.longestSpan = Math.max(0, ...this.#spans)
    this.tellWithin = {
      sent: Math.min(longestUnreported, this.shortestSpan / 2),
      answered: Math.min(longestUnreported, this.shortestSpan * aheadOfSpan),
    }
    this.#bound = Math.max(lease, 4 * (claim.unansweredGrace ?? defaultGrace) + useWithin)
  }

  /** Returns how long the attempt after `ahead` others waits for its limits; each unit comes free `lag` late. */
  forecast(others: number, lag: number): number {
    const { limits, interval } = this.claim
    let wait = others * interval
    for (const [index, { quota }] of limits.entries())
      wait = Math.max(wait, Math.floor((others * this.cost) / quota) * ((this.#spans[index] as number) + lag))
    return wait
  }

  kept(others: Keeping): Keeping {
    const long = this.#spans.filter((span) => span > longSpan)
    const short = this.#spans.filter((span) => span <= longSpan)
    const lifetime =
      Math.min(longestBlock, this.longestSpan) + Math.min(mostLate, lateUse + this.longestSpan / 2)
    const slots = Math.ceil((100 * longestSlot) / Math.min(...long))
    return {
      longest: Math.max(others.longest, this.longestSpan),
      lifetime: Math.max(others.lifetime, lifetime),
      short: Math.max(others.short, shortestKept, ...short),
      width: long.length > 0 ? longestSlot / slots : others.width,
      keep: Math.max(others.keep, Math.ceil(this.longestSpan + this.#bound + unusedKept)),
    }
  }

  /** Returns what a request asks for. @param number returns the number of a series in the request. */
  wanted(
    wanted: number,
    number: (series: string) => number,
    { isTeaching, now, roundTrip, lag, arrivesWithin }: Reached,
  ): WantedUnits {
    const { limits, interval } = this.claim
    const quota = Math.min(...limits.map((limit) => limit.quota))
    const cost = Math.min(this.cost, quota)
    const members = membersOf(cost)
    const ahead = Math.min(
      longestAhead,
      this.shortestSpan / 3,
      Math.max(roundTrip + 20, this.shortestSpan * aheadOfSpan),
    )
    return {
      limits: limits.map((limit) => ({
        series: number(limit.series),
        quota: limit.quota,
        span: isSliding(limit) ? spanOf(limit) : now - limit.since,
        ends: isSliding(limit) ? undefined : Math.max(1, limit.until - now),
      })),
      queue: number(this.series[0] as string),
      cost,
      sets: this.series.map((series) => setOf(number(series), members[0] as string)),
      members,
      wanted,
      share: Math.floor(quota / cost),
      interval,
      bound: this.#bound,
      ahead,
      isFirst: isTeaching && this.shortestSpan <= keptOpen,
      distance: roundTrip,
      late: lateness + Math.min(roundTrip, this.shortestSpan * aheadOfSpan),
      lag,
      gather: this.#isBatched ? Math.min(arrivesWithin, this.shortestSpan * gatherOfSpan) : 0,
      batch: Math.ceil(quota * batchOfQuota),
    }
  }

  get #isBatched(): boolean {
    const { accounting, interval } = this.claim
    return accounting === 'learned' && interval === 0 && this.longestSpan <= unitSpan(longestBatched)
  }

  /** Returns the longest wait before the process asks again: units may come free early. */
  longestWait(now: number, isGivenBack: boolean): number {
    const ends = this.claim.limits.flatMap((limit) => (isSliding(limit) ? [] : [limit.until - now]))
    const [least, most] = looks
    return Math.min(
      isGivenBack ? Math.max(leastLook, this.shortestSpan * lookOfSpan) : Infinity,
      ends.length === 0 ? Infinity : Math.max(least, Math.min(most, Math.min(...ends) / 10)),
    )
  }
}

function spanOf(limit: LimitInForce): number {
  return isSliding(limit) ? unitSpan(limit.window) : limit.until - limit.since
}
