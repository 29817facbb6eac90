import type { Emit, NamedLimit } from '../events.ts'
import { finiteDuration } from '../time/duration.ts'
import type { Claims } from './claims.ts'
import type { Demand } from './demand.ts'
import type { InUse } from './in-use.ts'
import { longestTrial, type Pause, Pauses, readPause } from './pauses.ts'
import { readAsked, readRemaining, type RemainingQuota, type ResponseHead } from './rate-limit-headers.ts'
import type { Permit, RateLimiter, Word } from './rate-limiter.ts'
import { type CheckedPolicy, lengthOf, type RateLimit } from './rate-policy.ts'
import { type RefusedCall, Refusals } from './refusals.ts'
import { Reported } from './reported.ts'

export interface Restrained {
  /** Its own: how long its calls wait, and what it reads as a refusal. The limits are the budget's. */
  readonly policy: CheckedPolicy
  readonly emit: Emit
}

export interface Unit {
  readonly permit: Permit
  readonly demand: Demand
  /** 1 for the first call to the API, 2 for the next. */
  readonly order: number
  /** On the monotonic clock. */
  readonly sentAt: number
  /** Whether other calls wait for its response. */
  readonly isTrial: boolean
  isAnswered: boolean
}

interface Reading {
  readonly response: ResponseHead
  readonly isRefused: boolean
  readonly named: readonly RateLimit[]
  readonly now: number
}

interface LastPause {
  readonly ms: number
  readonly reason: Pause['reason']
  readonly status: number
}

/** A time above `longTime` raises it by four steps, any other lowers it by one: so 4 of 5 are below it in the end. */
const longer = 1.004
const shorter = 1.001
const enoughTimes = 100
/** For how long other processes keep a pace, in milliseconds. */
const paceHolds = 86_400_000

/** How far calls hold back: the pauses and the pace that responses ask for, those of this process and of others. */
export class Restraint {
  readonly #api: string
  readonly #claims: Claims
  readonly #inUse: InUse
  readonly #limiter: Pick<RateLimiter, 'tell' | 'forecast'>
  readonly #serve: { readonly soon: () => void; readonly all: () => void }
  readonly pauses: Pauses = new Pauses()
  readonly #reported = new Reported()
  readonly #refusals = new Refusals()
  #sent = 0
  #unanswered = 0
  /** How long accepted calls take at most until their response arrives, in milliseconds: 4 of 5. */
  #longTime: number | undefined
  #timed = 0
  /** The limits in force when the pace changed last. */
  #kept: readonly RateLimit[] = []
  #lastPause: LastPause = { ms: 0, reason: 'refused', status: 0 }
  /** Status of the last response that said what remains. */
  #reportedStatus = 0

  /** @param serve lets waiting queues ask again: those whose turn it is, or all. */
  constructor(
    api: string,
    claims: Claims,
    inUse: InUse,
    limiter: Pick<RateLimiter, 'tell' | 'forecast'>,
    serve: { readonly soon: () => void; readonly all: () => void },
  ) {
    this.#api = api
    this.#claims = claims
    this.#inUse = inUse
    this.#limiter = limiter
    this.#serve = serve
  }

  givesUp(call: RefusedCall, maxWait: number | undefined): boolean {
    return this.#refusals.givesUp(call, this.pauses.until - performance.now(), maxWait)
  }

  isInVain(call: RefusedCall, maxWait: number | undefined): boolean {
    return this.#refusals.isInVain(call, this.pauses.until - performance.now(), maxWait)
  }

  /** Returns for how many milliseconds no call may be sent, where pauses are not open. */
  pausedFor(now: number): number {
    const wait = this.pauses.wait(now)
    const overdue = this.pauses.overdueTrial(now)
    // no response for long: the other calls follow, unless the trial call is still waiting for a unit
    if (overdue !== undefined && this.#inUse.isTried(overdue)) this.pauses.end()
    else if (overdue !== undefined) this.pauses.try(overdue.since, overdue.since, now)
    return wait
  }

  resume(): void {
    this.#reported.forget()
    this.#claims.pace.resumed(performance.now())
    this.#open()
    this.#serve.all()
  }

  sent(queue: Restrained, permit: Permit, demand: Demand, now: number): Unit {
    const isTrial = this.pauses.trial !== undefined
    this.#sent += 1
    this.#unanswered += 1
    this.#reported.remaining -= 1
    if (this.#reported.remaining <= 0) this.#useUp(queue, this.#reported.usedUp(now), now)
    return { permit, demand, order: this.#sent, sentAt: now, isTrial, isAnswered: false }
  }

  responded(queue: Restrained, unit: Unit, reading: Reading): void {
    unit.isAnswered = true
    this.#unanswered -= 1
    const { response, named, now } = reading
    const { demand, sentAt } = unit
    const { pace } = this.#claims
    if (reading.isRefused) this.#refused(queue, unit, reading)
    else {
      if (unit.isTrial || pace.isRefused || !this.#refusals.areOver) this.#acceptedAgain(queue, unit, reading)
      if (pace.accepted(demand.cost, named, demand, this.#arrivalOf(sentAt, now), now)) this.#keepPace()
    }
    const quota = readRemaining(response, queue.policy.rateLimitHeaders)
    if (quota !== undefined) this.#remain(queue, unit, quota, reading)
  }

  ended(unit: Unit, wasSent: boolean): void {
    if (!unit.isAnswered) this.#unanswered -= 1
    // a trial without a response: the others follow
    if (unit.isTrial && wasSent && this.pauses.trial !== undefined) this.#open()
  }

  count(accepted: number, refused: number): void {
    const now = performance.now()
    const { pace, demands } = this.#claims
    const isRaised = accepted > 0 && pace.accepted(accepted, [], demands.plain, now, now)
    const at = { demand: demands.plain, asked: 0, isNew: false, sentAt: now, now }
    const isLower = refused > 0 && pace.refused(refused, [], at)
    if (isRaised || isLower) this.#claims.forget()
  }

  /** Takes over the pace or pause of another process. @throws for a word that is not Tokenlane's. */
  hear({ about, text, for: ms }: Word, longestPause = 0): void {
    const now = performance.now()
    if (about === 'pace') this.#claims.pace.hear(text, now)
    else if (about === 'pause') this.#hearPause(ms, text, longestPause, now)
  }

  #refused(queue: Restrained, unit: Unit, { response, named, now }: Reading): void {
    const { longestPause, shortestPause, rateLimitHeaders } = queue.policy
    const { policy, pace } = this.#claims
    const asked = readAsked(response, rateLimitHeaders) ?? 0
    const refusals = this.#refusals
    const { order, isTrial, sentAt, demand } = unit
    const isNew = refusals.refused(order, this.#sent, pace.isLower, policy)
    const { isLesson } = refusals
    // a trial that fails says that the pause was too short, and nothing of the pace
    const count = isTrial ? 0 : demand.cost
    const isLower = !isLesson && pace.refused(count, named, { demand, asked, isNew, sentAt, now })
    const wait = refusals.pause(asked, pace.shareRefused, isNew, policy)
    const ms = Math.max(shortestPause, Math.min(longestPause, wait))
    const pause = { ms, reason: 'refused', isTried: !isLesson && !refusals.isLight } as const
    // its event says the new pace too
    if (isLower) this.#lastPause = { ...this.#lastPause, ms: 0 }
    this.#beginPause(queue, pause, now, response.status)
    if (isLower) this.#keepPace()
  }

  #acceptedAgain(queue: Restrained, { order, isTrial }: Unit, { response, now }: Reading): void {
    const { pace } = this.#claims
    const { isLight: wasLight, isLesson } = this.#refusals
    if (response.status !== 401) this.#refusals.accepted(order)
    if (pace.isRefused && this.#refusals.isAfter(order)) {
      // an API refuses a call at once, and accepts one in its own time
      const underWay = isTrial || wasLight ? this.#unanswered : 0
      pace.recovered(now, isLesson ? undefined : underWay)
      this.#keepPace(queue)
      this.#open()
    } else if (isTrial && this.pauses.trial !== undefined) this.#open()
  }

  /** Returns about when an accepted call arrived: where the API stood still meanwhile, long after it was sent. */
  #arrivalOf(sentAt: number, now: number): number {
    const took = now - sentAt
    const long = Math.max(1, this.#longTime ?? took)
    this.#longTime = took > long ? long * longer : long / shorter
    this.#timed += 1
    return this.#timed > enoughTimes ? Math.max(sentAt, now - long) : sentAt
  }

  /** Keeps to the limits that the API takes, and tells other processes; the observers of `queue` hear of a change. */
  #keepPace(queue?: Restrained): void {
    const before = this.#kept
    this.#kept = this.#claims.pace.kept
    this.#claims.forget()
    this.#limiter.tell({ about: 'pace', text: this.#claims.pace.text, for: paceHolds })
    const differs = this.#kept.some(({ quota }, index) => quota !== before[index]?.quota)
    if (queue !== undefined && differs && this.allows !== undefined) this.#sayPaused(queue, this.#lastPause)
  }

  #remain(
    queue: Restrained,
    { order, sentAt, demand }: Unit,
    quota: RemainingQuota,
    { response, now }: Reading,
  ): void {
    this.#reportedStatus = response.status
    if (quota.remaining === 0) this.#claims.pace.hold(now)
    const { limits } = this.#claims.policy
    const { longestPause } = queue.policy
    const longestWindow =
      limits.length === 0 ? longestPause : Math.max(...limits.map(({ window }) => lengthOf(window)))
    const report = { ...quota, resetIn: Math.min(quota.resetIn, longestWindow, longestPause) }
    // as it was when the API counted the call: units have come free since
    const { left = Number.NEGATIVE_INFINITY } = this.#inUse.of(demand, sentAt)
    const nextIn = this.#limiter.forecast(this.#claims.of(demand, now), 1, 0)
    const read = this.#reported.read(report, { order, sent: this.#sent, now }, left, nextIn)
    if (read?.remain === true && this.pauses.shorten(now)) {
      this.#tellPause(0)
      this.#serve.all()
    }
    if (read !== undefined) this.#useUp(queue, read.usedUp, now)
  }

  /** Pauses for as long as the API accepts no further call, by what it said. */
  #useUp(queue: Restrained, ms: number, now: number): void {
    if (ms === 0) return
    this.#beginPause(queue, { ms, reason: 'used-up', isTried: true }, now)
  }

  #beginPause(queue: Restrained, pause: Pause, now: number, status = this.#reportedStatus): void {
    const { ms, reason } = pause
    // responses to calls that were under way together ask for one pause, and make one event
    const isLonger = this.pauses.until <= now || ms > this.#lastPause.ms
    this.pauses.begin(pause, now)
    if (!isLonger) return
    this.#lastPause = { ms, reason, status }
    this.#sayPaused(queue, this.#lastPause)
    this.#tellPause(ms + longestTrial, JSON.stringify({ ...pause, row: this.#refusals.count }))
  }

  #sayPaused({ emit }: Restrained, { ms, ...said }: LastPause): void {
    const allows = this.#claims.pace.isLower ? this.allows : undefined
    const differs = allows && { allows, configured: this.#claims.policy.limits }
    emit({ type: 'api.paused', api: this.#api, for: ms, ...said, ...differs })
  }

  #tellPause(ms: number, text = ''): void {
    this.#limiter.tell({ about: 'pause', text, for: ms })
  }

  #open(): void {
    this.pauses.end()
    this.#tellPause(0)
    this.#serve.soon()
  }

  /** What the API takes, where that is less than the limits allow; nothing where the policy says nothing. */
  get allows(): readonly NamedLimit[] | undefined {
    return this.#claims.policy.limits.length > 0 ? this.#claims.pace.allows : undefined
  }

  #hearPause(left: number, text: string, longestPause: number, now: number): void {
    if (left === 0) {
      this.#refusals.end()
      this.pauses.end()
      this.#reported.forget()
      this.#claims.pace.resumed(now)
      return
    }
    const { row, ...said } = readPause(JSON.parse(text), 'pause')
    this.#refusals.hear(row, this.#sent)
    const ms = Math.min(finiteDuration(left) - longestTrial, longestPause)
    const since = now + ms - said.ms
    if (ms > 0) this.pauses.begin({ ...said, ms }, now, since)
    else this.pauses.try(since, now + ms, now)
  }
}
