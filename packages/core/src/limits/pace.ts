import { type FoundLimit, foundOfLimit, PacedLimit, readFoundLimit } from './paced-limit.ts'
import type { NamedLimit } from '../events.ts'
import { list } from '../options/reader.ts'
import type { ApiClock } from './api-clock.ts'
import type { Demand } from './demand.ts'
import type { LimitInForce } from './rate-limiter.ts'
import { type Limit, namesOf, type RateLimit } from './rate-policy.ts'

/** The assumed window of a limit that neither policy nor headers name, in milliseconds. */
const shortest = 1_000
/** The share of refused calls is taken from about this many responses. */
const mostResponses = 100
/** A window may be this much shorter than the pause that it explains: clocks and network differ. */
const nearly = 0.9

const readFound = list(readFoundLimit, 'an array')

interface Refusals {
  /** What the first of them would have taken. */
  readonly demand: Demand
  /** When the first of them was sent. */
  readonly at: number
  count: number
  /** How long the API has refused calls for sure, or asked for, in milliseconds. */
  lasted: number
  /** Whether headers said what it allows. */
  isNamed: boolean
}

/**
 * How fast calls go: as the policy says, or as the API takes them, where that is less.
 *
 * Once an API that has refused calls accepts one again, the limit that it enforces is the shortest one whose window is as
 * long as it refused them; where there is none, it is a limit of which the policy says nothing.
 */
export class Pace {
  readonly #limits: readonly PacedLimit[]
  readonly #unknown = new PacedLimit({ quota: Infinity, window: shortest })
  #refusals: Refusals | undefined
  /** The last responses, and how many of them refused a call: both are halved where they are many. */
  #lastResponses = 0
  #lastRefused = 0
  /** Calls that were accepted since the API last accepted one after a refusal, and since when. */
  #accepted = 0
  #since = Number.NEGATIVE_INFINITY

  constructor(limits: readonly Limit[]) {
    this.#limits = limits.map((limit) => new PacedLimit(limit))
    this.hasCalendar = limits.some(({ window }) => typeof window === 'string')
  }

  #noteWhetherLower(): void {
    this.isLower = this.#unknown.isLower || this.#limits.some((limit) => limit.isLower)
  }

  get #all(): PacedLimit[] {
    return this.#unknown.isLower ? [...this.#limits, this.#unknown] : [...this.#limits]
  }

  readonly hasCalendar: boolean
  isLower = false
  /** Whether the API has refused calls since it last accepted one again. */
  isRefused = false

  inForce({ series }: Demand, clock: ApiClock, now: number): LimitInForce[] {
    return this.#all.flatMap((limit, index) => {
      const own = limit === this.#unknown ? '' : series[index]
      return own === undefined ? [] : [limit.inForce(own, clock, now)]
    })
  }

  get kept(): RateLimit[] {
    return this.#all.map(({ kept }) => kept)
  }

  get allows(): NamedLimit[] | undefined {
    return this.isLower ? this.#all.map(({ limit, kept }) => ({ ...namesOf(limit), ...kept })) : undefined
  }

  /** How many of the last responses refused a call, from 0 to 1. */
  get shareRefused(): number {
    return this.#lastRefused / (this.#lastResponses || 1)
  }

  /** Counts accepted calls; returns whether the pace changes. `named` are the limits in the API's headers. */
  accepted(
    count: number,
    named: readonly RateLimit[],
    { series }: Demand,
    sentAt: number,
    now: number,
  ): boolean {
    this.#accepted += count
    this.#lastResponses += count
    this.#unknown.accepted(count, sentAt)
    let index = 0
    for (const limit of this.#limits) {
      if (series[index] !== undefined) limit.accepted(count, sentAt)
      index += 1
    }
    if (!this.isLower) return false
    let isRaised = this.#unknown.raise(Infinity, now)
    for (const limit of this.#limits) if (limit.raise(namedFor(limit, named), now)) isRaised = true
    if (isRaised) this.#noteWhetherLower()
    return isRaised
  }

  /**
   * Counts refused calls; returns whether the pace changes.
   *
   * @param asked for how long the API asks to be left alone, in milliseconds.
   * @param isNew whether they were sent after those that were refused before.
   */
  refused(
    count: number,
    named: readonly RateLimit[],
    {
      demand,
      asked,
      isNew,
      sentAt,
      now,
    }: { demand: Demand; asked: number; isNew: boolean; sentAt: number; now: number },
  ): boolean {
    this.#refusals ??= { demand, at: sentAt, count: 0, lasted: 0, isNamed: false }
    this.#refusals.count += count
    this.isRefused = true
    for (; this.#lastResponses >= mostResponses; this.#lastResponses /= 2) this.#lastRefused /= 2
    this.#lastResponses += count
    this.#lastRefused += count
    const lasted = asked + (isNew ? sentAt - this.#refusals.at : 0)
    this.#refusals.lasted = Math.max(this.#refusals.lasted, lasted)
    if (named.length === 0) return false
    let isChanged = false
    for (const limit of this.#limits) {
      const most = namedFor(limit, named)
      if (most === Infinity) continue
      this.#refusals.isNamed = true
      isChanged ||= most < limit.calls
      limit.keepTo(most, most, now)
    }
    this.#noteWhetherLower()
    return isChanged
  }

  /** Keeps the pace from rising for some windows from now. */
  hold(now: number): void {
    for (const limit of this.#all) limit.hold(now)
  }

  /**
   * The API accepts calls again: sets the pace to what it took before, unless the refusals show nothing.
   *
   * @param underWay how many of the calls that it took before have no response yet.
   */
  recovered(now: number, underWay: number | undefined): void {
    const refusals = this.#refusals as Refusals
    if (underWay !== undefined && !refusals.isNamed) this.#lower(refusals, underWay, now)
    this.#noteWhetherLower()
    this.resumed(now)
  }

  resumed(now: number): void {
    this.#refusals = undefined
    this.isRefused = false
    this.#accepted = 0
    this.#since = now
  }

  /** As a word for other processes. */
  get text(): string {
    return JSON.stringify([this.#unknown, ...this.#limits], foundOfLimit)
  }

  /** Takes over the pace of another process. */
  hear(text: string, now: number): void {
    const [unknown, ...limits] = readFound(JSON.parse(text), 'pace')
    // of another policy
    if (unknown === undefined || this.#limits.some(({ window }, index) => window !== limits[index]?.window))
      return
    this.#unknown.take(unknown, now)
    for (const [index, limit] of this.#limits.entries()) limit.take(limits[index] as FoundLimit, now)
    this.#noteWhetherLower()
    this.resumed(now)
  }

  #lower({ demand, at, count, lasted }: Refusals, underWay: number, now: number): void {
    const unknown = this.#unknown
    const [limit] = this.#all
      .filter((each, index) => each === unknown || demand.series[index] !== undefined)
      .filter(({ window }) => window >= lasted * nearly)
      .toSorted((a, b) => a.window - b.window)
    if (limit !== undefined && limit !== unknown)
      return limit.lower(limit.acceptedFrom(at) + underWay, count, now)
    if (limit === undefined) unknown.window = Math.max(shortest, now - at)
    const inCycle = this.#accepted * Math.min(1, unknown.window / (at - this.#since))
    unknown.lower(Math.round(Math.max(unknown.acceptedFrom(at), inCycle)) + underWay, count, now)
  }
}

/** Returns how many calls the API says that it allows in the window of a limit; `Infinity` if it does not say. */
function namedFor({ window }: PacedLimit, named: readonly RateLimit[]): number {
  return Math.min(...named.map((other) => (other.window === window ? other.quota : Infinity)))
}
