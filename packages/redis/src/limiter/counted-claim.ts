import { type Claim, defaultGrace, isSliding, type LimitInForce, unitSpan } from '@tokenlane/core/fleet'
import type { CountedLimit, KeptSeries, WantedUnits } from './exchange.ts'
import { type Patience, seriesOf, useWithin } from './units.ts'

/** For how long a unit counts as under way while its process says nothing of it, at least; in milliseconds. */
const lease = 5_000
/** The longest time ahead for which Redis grants units, in milliseconds, and a part of the span. */
const longestAhead = 250
const aheadOfSpan = 1 / 8
/** How soon Redis hears of an attempt at the latest, in milliseconds. */
const longestUnreported = 1_000
/** Limits that are longer have their older units counted together in slots of a hundredth, in milliseconds. */
const longSpan = 600_000
/** A slot of a day's limit; shorter ones divide it, so that slots begin with the hours of all time zones. */
const longestSlot = 900_000
const shortestKept = 10_000
/** By how much a process that waits may come later than it should before others take its turn, in milliseconds. */
const lateness = 50
/** How often a process asks, at most and at least, while all units come free together at a moment; in milliseconds. */
const looks = [100, 2_000] as const

/**
 * With `accounting: 'learned'`, units gather for this part of the span at most, or until this part of the quota is free: the
 * gap between two batches lies where one window ends and the next begins, so a request that travels longer harms nothing.
 */
const gatherOfSpan = 1 / 10
const batchOfQuota = 1 / 5
const longestBatched = 10_000

/** How this process reaches Redis and the API. */
interface Reached {
  readonly now: number
  readonly roundTrip: number
  readonly lag: number
  readonly arrivesWithin: number
}

/** How Redis counts what attempts of one kind take; times in milliseconds. */
export class CountedClaim {
  readonly #claim: Claim
  readonly series: readonly string[]
  readonly shortestSpan: number
  readonly longestSpan: number
  readonly patience: Patience

  constructor(claim: Claim) {
    this.#claim = claim
    this.series = seriesOf(claim.limits)
    const spans = claim.limits.map(spanOf)
    this.shortestSpan = Math.min(60_000, ...spans)
    this.longestSpan = Math.max(0, ...spans)
    this.patience = {
      sent: Math.min(longestUnreported, this.shortestSpan / 2),
      answered: Math.min(longestUnreported, this.shortestSpan * aheadOfSpan),
    }
  }

  /** Returns how long the attempt after so many others waits for its limits, each unit of which comes free `lag` late. */
  forecast(others: number, lag: number): number {
    const { limits, interval, cost } = this.#claim
    let wait = others * interval
    for (const limit of limits)
      wait = Math.max(wait, Math.floor((others * cost) / limit.quota) * (spanOf(limit) + lag))
    return wait
  }

  /** Returns how the units of a series of this claim are kept. */
  kept(name: string): KeptSeries {
    const spans = this.#claim.limits.filter(({ series }) => series === name).map(spanOf)
    const long = spans.filter((span) => span > longSpan)
    return {
      name,
      longest: Math.max(...spans),
      short: Math.max(shortestKept, ...spans.filter((span) => span <= longSpan)),
      width: long.length > 0 ? longestSlot / Math.ceil((100 * longestSlot) / Math.min(...long)) : 0,
    }
  }

  /** Returns what a request asks for. @param number returns the number of a series in the request. */
  wanted(
    wanted: number,
    number: (series: string) => number,
    { now, roundTrip, lag, arrivesWithin }: Reached,
  ): WantedUnits {
    const { limits, interval, unansweredGrace = defaultGrace } = this.#claim
    const cost = Math.min(this.#claim.cost, ...limits.map(({ quota }) => quota))
    const bound = Math.max(lease, 4 * unansweredGrace + useWithin)
    const ahead = Math.min(
      longestAhead,
      this.shortestSpan / 3,
      Math.max(roundTrip + 20, this.shortestSpan * aheadOfSpan),
    )
    const counted = limits.map((limit): CountedLimit => {
      const place = { series: number(limit.series), quota: limit.quota }
      if (isSliding(limit)) return { ...place, span: spanOf(limit) }
      return { ...place, span: now - limit.since, ends: Math.max(1, limit.until - now) }
    })
    return {
      limits: counted,
      series: this.series.map(number),
      queue: number(this.series[0] as string),
      cost,
      wanted,
      share: Math.floor(Math.min(...limits.map(({ quota }) => quota)) / cost),
      interval,
      bound,
      ahead,
      lead: 0.8 * ahead,
      shortest: ahead / 4,
      distance: roundTrip,
      late: lateness + Math.min(roundTrip, this.shortestSpan * aheadOfSpan),
      early: bound - lag,
      lag,
      gather: this.#isBatched ? Math.min(arrivesWithin, this.shortestSpan * gatherOfSpan) : 0,
      batch: Math.ceil(Math.min(...limits.map(({ quota }) => quota)) * batchOfQuota),
    }
  }

  get #isBatched(): boolean {
    const { accounting, interval } = this.#claim
    return accounting === 'learned' && interval === 0 && this.longestSpan <= unitSpan(longestBatched)
  }

  /** Returns for how long to wait at most before the process asks again: what comes free together may do so early. */
  longestWait(now: number): number {
    const ends = this.#claim.limits.flatMap((limit) => (isSliding(limit) ? [] : [limit.until - now]))
    const [least, most] = looks
    return ends.length === 0 ? Infinity : Math.max(least, Math.min(most, Math.min(...ends) / 10))
  }
}

function spanOf(limit: LimitInForce): number {
  return isSliding(limit) ? unitSpan(limit.window) : limit.until - limit.since
}
