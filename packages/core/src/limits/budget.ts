import { defined, type Emit, type NamedLimit } from '../events.ts'
import { backoff } from '../time/backoff.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import { ApiClock } from './api-clock.ts'
import { type AskingCall, type Demand, Demands } from './demand.ts'
import { limiterOf } from './memory-limiter.ts'
import { Pace } from './pace.ts'
import { longestTrial, type Pause, Pauses, readPause } from './pauses.ts'
import { PolicyWatch, type Slowed } from './policy-watch.ts'
import {
  isRefusal,
  readAsked,
  readDate,
  readPolicy,
  readRemaining,
  type ResponseHead,
  settledCost,
} from './rate-limit-headers.ts'
import type {
  Claim,
  FixedLimit,
  LimitInForce,
  Permit,
  RateLimiter,
  RateLimiterFactory,
  Usage,
  Word,
} from './rate-limiter.ts'
import { type CheckedPolicy, checkRatePolicy, lengthOf, namesOf, type RateLimit } from './rate-policy.ts'
import { Reported } from './reported.ts'
import { type Sharer, Turns } from './turns.ts'

/** A queue that takes its units of a budget. */
export interface BudgetQueue extends Sharer {
  /** Its own: how long its calls wait, and what it reads as a refusal. The limits are the budget's. */
  readonly policy: CheckedPolicy
  readonly emit: Emit
}

/** The units of one call that was sent. */
export interface Unit {
  readonly permit: Permit
  /** 1 for the first call to the API, 2 for the next. */
  readonly order: number
  /** On the monotonic clock. */
  readonly sentAt: number
  /** Whether other calls wait for its response. */
  readonly isTrial: boolean
  isAnswered: boolean
  readonly demand: Demand
}

/** Why no call can be sent now, and for how many milliseconds; `Infinity`: until something changes. */
export interface Obstacle {
  readonly cause: 'limit' | 'pause'
  readonly ms: number
}

interface HeldClaim {
  readonly demand: Demand
  readonly claim: Claim
  readonly until: number
  readonly trial: FixedLimit | undefined
}

/** A pause, as its event says it. */
interface LastPause {
  readonly ms: number
  readonly reason: Pause['reason']
  readonly status: number
}

/** Refusals without an accepted call between them. Calls that were sent together are refused together. */
interface RefusalRow {
  count: number
}

/** The first refusal of a call since the API last accepted one. */
export interface Refusal {
  readonly row: RefusalRow
  /** How many there had been in the row, this one included. */
  readonly before: number
  readonly at: number
}

/** One limit in a snapshot. */
export interface LimitStatus extends NamedLimit {
  /**
   * The units in use; of a limit for each value of a path, those of the value that has used most. Missing while the
   * limiter does not know, and before the first call of this process that counts.
   */
  readonly used?: number
}

/** The limits in a snapshot. */
export interface LimitsStatus {
  /** The limits of the policy that have a `name` or a `match`. */
  readonly limits?: readonly LimitStatus[]
  /**
   * Used share of the fullest limit, 0 to 1, if the limiter knows it: as used by this process, or with a shared limiter
   * by all processes, as last reported.
   */
  readonly quotaUsed?: number
  /** How many calls the limits allow now, if the limiter knows. Lower if the API itself reports less. */
  readonly quotaLeft?: number
  /** Why this process keeps to its own share of the limits, if the shared budget failed: as in `limiter.failed`. */
  readonly limiterFailure?: string
  /** With `accounting: 'learned'`: within how many milliseconds after its send a call counts as arrived. */
  readonly arrivesWithin?: number
  /** Roughly what the API allows, if it refuses calls that the rate policy allows: the limits that are kept instead. */
  readonly allows?: readonly NamedLimit[]
  /**
   * If slow responses and a strict policy leave waiting calls less than 70% of the quota: the `share` that they got
   * when calls last waited, and the `option` of the rate policy that gives more.
   */
  readonly slowed?: Slowed
  /** ISO 8601, while the API is paused: it refused a call because of its rate limit, or reported that no calls remain. */
  readonly pausedUntil?: string
}

/** The pause of an API that refuses calls and does not say for how long, and of one that refuses few of many. */
const unaskedPause = { first: 1_000, most: 60_000 }
const lightPause = 100
const fewRefused = 1 / 10
/** The shortest pause that an API can ask for. */
const leastAsked = 250
/** After so many refusals without an accepted call, a pause lasts as long as the longest window, and after one more a call is given up. */
const mostRefusals = 3
/** `accounting: 'learned'` learns from this many refusals within this many rounds of the quota. One more means wrong limits. */
const mostLessons = 2
const lessonRounds = 10
/** So many claims are kept, and for so long one of an API whose clock is followed, in milliseconds. */
const mostClaims = 1_000
const clockHolds = 60_000
/** How long other processes keep to a pace without hearing of another one. */
const paceHolds = 86_400_000

/**
 * What an API allows: its units, its pauses, its pace. One object, whoever shares it: one queue, those of tenants, and, by
 * the limiter, those of other processes.
 */
export class Budget {
  readonly #api: string
  readonly #limiter: RateLimiter
  readonly #queues = new Set<BudgetQueue>()
  readonly #turns = new Turns<BudgetQueue>()
  readonly #pauses = new Pauses()
  readonly #reported = new Reported()
  #policy: CheckedPolicy
  #pace: Pace
  #watch: PolicyWatch
  #demands: Demands
  readonly #clock = new ApiClock()
  /** Claims by the key of their demand, until when they hold. */
  readonly #claims = new Map<string, HeldClaim>()
  /** The one that was asked for last. */
  #last: HeldClaim | undefined
  /** Why the shared budget fails, while it does. */
  failure: string | undefined
  #sent = 0
  /** Calls without a response. */
  #unanswered = 0
  #row: RefusalRow = { count: 0 }
  /** How many calls had been sent at the last refusal. */
  #refusedOrder = 0
  /** How many calls had been sent at each refusal of the last rounds. The start counts as one. */
  #lessons = [0]
  /** Whether the API refused few of many calls, and is only left alone for a moment. */
  #isLight = false
  /** Whether the last refusal only taught the limiter. */
  #isLesson = false
  /** What was kept of each limit when the pace changed last. */
  #kept: readonly RateLimit[] = []
  /** How long the pause is by its event, in milliseconds. */
  #announced = 0
  #lastPause: LastPause = { ms: 0, reason: 'refused', status: 0 }
  /** Status of the last response that said what remains. */
  #reportedStatus = 0

  /** Whether it outlives its queues. */
  readonly #isKept: boolean

  /** @param create makes the limiter; without it the units are kept in this process's memory. */
  constructor(api: string, policy: CheckedPolicy, create: RateLimiterFactory | undefined, isKept = false) {
    this.#api = api
    this.#isKept = isKept
    this.#policy = policy
    this.#pace = new Pace(policy.limits)
    this.#watch = new PolicyWatch(api, policy)
    this.#demands = this.#demandsOf(policy)
    const emit: (...event: Parameters<Emit>) => void = (event) => this.#first?.emit(event)
    this.#limiter = limiterOf(create, {
      baseUrl: api,
      unitsAvailable: () => this.#serve(),
      heard: (word) => this.#hear(word),
      counted: (accepted, refused) => this.#count(accepted, refused),
      failed: (reason) => {
        this.failure = reason
        emit({ type: 'limiter.failed', api, reason })
      },
      recovered: () => {
        this.failure = undefined
        emit({ type: 'limiter.recovered', api })
      },
    })
  }

  join(queue: BudgetQueue): void {
    this.#queues.add(queue)
  }

  /** A queue takes no more units: its last call has ended. */
  async leave(queue: BudgetQueue): Promise<void> {
    this.gaveUp(queue)
    this.#queues.delete(queue)
    if (this.#queues.size === 0 && !this.#isKept) await this.close()
  }

  /** Whether a new budget would allow no more than this one, and nobody uses it. */
  get isUnused(): boolean {
    return (
      this.#queues.size === 0 &&
      this.pausedUntil <= performance.now() &&
      !this.#pace.isLower &&
      !this.#fullest
    )
  }

  /** Ends the limiter. */
  async close(): Promise<void> {
    await this.#limiter.close()
  }

  /** When the pause ends or ended, on the monotonic clock. */
  get pausedUntil(): number {
    return this.#pauses.until
  }

  /** What to remember of a call that is refused now for the first time since the API last accepted one. */
  get refusal(): Refusal {
    return { row: this.#row, before: this.#row.count, at: performance.now() }
  }

  /** Whether a refused call is given up: the API has accepted none for long since. */
  givesUp({ row, before, at }: Refusal, maxWait: number | undefined): boolean {
    if (maxWait !== undefined) return this.pausedUntil - at > maxWait
    return row === this.#row && row.count >= before + mostRefusals
  }

  /** Returns for how many milliseconds the API is paused, 0 if it is not. */
  pausedFor(now: number): number {
    const wait = this.#pauses.wait(now)
    const { trial } = this.#pauses
    if (trial !== undefined && now >= trial.until) this.#endTrial(trial, now)
    return wait
  }

  /** What a call takes of which no limit looks at more. */
  get plain(): Demand {
    return this.#demands.plain
  }

  /** Returns what a call takes. */
  demandOf(queue: BudgetQueue, call: AskingCall): Demand {
    return this.#demands.of(call, queue.policy)
  }

  /** Returns the unit of a call that is sent now, or when to ask again; `couldUse` calls could be sent, this one included. */
  take(queue: BudgetQueue, demand: Demand, now: number, couldUse: number): Unit | Obstacle {
    const isShared = this.#queues.size > 1
    if (isShared && !this.#turns.mayTake(queue, couldUse)) return { cause: 'limit', ms: Infinity }
    const { trial } = this.#pauses
    const claim = this.#claimOf(demand, now, trial)
    const permit = this.#limiter.take(claim, isShared ? this.#turns.wanted(Infinity) : couldUse)
    if (typeof permit === 'number') {
      const obstacle = this.#obstacle(queue, claim, permit, now)
      if (!isShared) return obstacle
      this.#turns.waits(obstacle.ms, obstacle.cause === 'pause' || this.#demands.areAlike)
      return { ...obstacle, ms: Infinity }
    }
    if (isShared) this.#turns.took(queue)
    this.#sent += 1
    this.#unanswered += 1
    const usedUp = this.#reported.sent(now)
    if (usedUp > 0) this.#beginPause(queue, { ms: usedUp, reason: 'used-up', isTried: true }, now)
    return { permit, order: this.#sent, sentAt: now, isTrial: trial !== undefined, isAnswered: false, demand }
  }

  /** Reads the response to a call, and returns whether the API refused the call for its limit. */
  responded(queue: BudgetQueue, unit: Unit, response: ResponseHead): boolean {
    const { policy, emit } = queue
    const now = performance.now()
    const isRefused = isRefusal(response, policy)
    this.#answered(unit)
    unit.permit.answered({ isRefused, cost: settledCost(response, isRefused, unit.demand, policy) })
    if (this.#pace.hasCalendar) this.#readClock(unit, response, now)
    const isReporting = this.#watch.isReporting(emit)
    const isRead = policy.rateLimitHeaders && (isRefused || isReporting || this.#pace.isLower)
    const named = isRead ? readPolicy(response) : []
    if (isRefused) this.#refused(queue, unit, response, named, now)
    else this.#accepted(queue, unit, response, named, now)
    if (policy.rateLimitHeaders) this.#readRemaining(queue, unit, response, now)
    if (isReporting && named.length > 0) this.#watch.compare(named, emit)
    return isRefused
  }

  /** Takes back the unit of a call that ended, or that was never sent. */
  ended(unit: Unit, wasSent: boolean): void {
    if (!unit.isAnswered) this.#answered(unit)
    if (wasSent) unit.permit.ended()
    else unit.permit.cancel()
    // a trial without a response: the others follow
    if (unit.isTrial && wasSent && this.#pauses.trial !== undefined) this.#open()
    if (this.#queues.size > 1) this.#turns.serveSoon()
  }

  /** Returns the milliseconds until the `ahead`-th call of a queue from now may be sent at the earliest. */
  forecast(queue: BudgetQueue, ahead: number, demand: Demand = this.plain, lag = 0): number {
    const claim = this.#claimOf(demand, performance.now())
    const all = ahead + this.#turns.wanted(ahead, queue)
    return finiteDuration(this.#limiter.forecast(claim, all, lag, this.pausedUntil))
  }

  /** Returns about when the `ahead`-th call of a queue from now may be sent, in milliseconds from now. */
  estimate(queue: BudgetQueue, ahead: number, demand: Demand): number {
    return this.forecast(queue, ahead, demand, this.#usage(demand).lag)
  }

  /** Returns the series of limits of which no further call can take its units now. */
  fullSeries(demand: Demand, now: number): readonly string[] {
    const { cost, limits } = this.#claimOf(demand, now)
    const { used, held = 0 } = this.#limiter.usage(this.#claimOf(demand, now))
    if (held > 0) return []
    const isFull = ({ quota }: LimitInForce, index: number): boolean =>
      used === undefined || (used[index] ?? 0) + Math.min(cost, quota) > quota
    return limits.filter(isFull).map(({ series }) => series)
  }

  /** Lifts a pause that the API asked for, for everybody. */
  resume(): void {
    this.#reported.forget()
    this.#pace.resumed(performance.now())
    this.#open()
    this.#serveAll()
  }

  /** Another policy of one queue: its limits are everybody's. */
  setPolicy(policy: CheckedPolicy): void {
    this.#setLimits(policy)
    const { limits, spread, accounting, unansweredGrace } = policy
    const text = JSON.stringify({ limits, spread, accounting, unansweredGrace })
    this.#limiter.tell({ about: 'policy', text, for: Infinity })
    this.#turns.serveSoon()
  }

  /** No call of a queue waits any more. */
  gaveUp(queue: BudgetQueue, demand: Demand = this.plain): void {
    if (this.#turns.leave(queue)) this.#limiter.take(this.#claimOf(demand, performance.now()), 0)
  }

  status(): LimitsStatus {
    const pause = this.pausedUntil - performance.now()
    const { left = Infinity, arrivesWithin } = this.#usage()
    const share = this.#fullest
    const learned = this.#policy.accounting === 'learned' ? arrivesWithin : undefined
    return defined({
      limiterFailure: this.failure,
      allows: this.#allows,
      slowed: this.#watch.slowed,
      arrivesWithin: learned === undefined ? undefined : Math.round(learned),
      quotaUsed: share === undefined ? undefined : Math.min(1, finiteDuration(share)),
      quotaLeft: left < Infinity && this.#policy.limits.length > 0 ? Math.max(0, left) : undefined,
      limits: this.#rows,
      pausedUntil: pause > 0 ? dateFromNow(pause) : undefined,
    })
  }

  get #first(): BudgetQueue | undefined {
    const [first] = this.#queues
    return first
  }

  /** What the API takes, where that is less than the limits allow; nothing where the policy says nothing. */
  get #allows(): readonly NamedLimit[] | undefined {
    return this.#policy.limits.length > 0 ? this.#pace.allows : undefined
  }

  #demandsOf({ limits }: CheckedPolicy): Demands {
    return new Demands(limits, this.#api, (demand) => !this.#usage(demand).share)
  }

  /** The used share of the fullest limit, whichever calls it counts; `undefined` while not known. */
  get #fullest(): number | undefined {
    const shares = this.#demands.all.flatMap((demand) => this.#usage(demand).share ?? [])
    return shares.length > 0 ? Math.max(...shares) : undefined
  }

  get #rows(): LimitStatus[] | undefined {
    const rows = this.#policy.limits.flatMap((limit, index): LimitStatus[] => {
      const { quota, window, name, match } = limit
      if (name === undefined && match === undefined) return []
      const used = this.#demands.all.flatMap((demand) => this.#usedOf(demand, index) ?? [])
      return [{ ...namesOf(limit), quota, window, ...(used.length > 0 && { used: Math.max(...used) }) }]
    })
    return rows.length > 0 ? rows : undefined
  }

  /** Returns how many units are in use of the limit with this number, if calls of this kind count towards it. */
  #usedOf(demand: Demand, index: number): number | undefined {
    if (demand.series[index] === undefined) return undefined
    const before = demand.series.slice(0, index).filter((series) => series !== undefined).length
    return this.#limiter.usage(this.#claimOf(demand, performance.now())).used?.[before]
  }

  /** The used share of the fullest limit, and how many units are left in the emptiest; `undefined` while not known. */
  #usage(
    demand: Demand = this.plain,
    at?: number,
  ): Omit<Usage, 'used' | 'held'> & { share: number | undefined; left: number | undefined } {
    const claim = this.#claimOf(demand, performance.now())
    const { used, ...others } = this.#limiter.usage(claim, at)
    const { limits } = claim
    const left = used && Math.min(...limits.map(({ quota }, index) => quota - (used[index] ?? 0)))
    const share = used && Math.max(0, ...limits.map(({ quota }, index) => (used[index] ?? 0) / quota))
    return { ...others, share, left }
  }

  #answered(unit: Unit): void {
    unit.isAnswered = true
    this.#unanswered -= 1
  }

  /** Corrects what is known of the API's clock; claims that hold until an edge are made again. */
  #readClock({ sentAt }: Unit, response: ResponseHead, now: number): void {
    const date = readDate(response)
    if (date === undefined) return
    this.#clock.heard(date, sentAt, now)
    this.#forgetClaims()
  }

  #forgetClaims(): void {
    this.#claims.clear()
    this.#last = undefined
  }

  #claimOf(demand: Demand, now: number, trial?: FixedLimit): Claim {
    const last = this.#last
    if (last !== undefined && last.demand === demand && last.trial === trial && now < last.until)
      return last.claim
    const key = trial === undefined ? demand.key : `trial ${demand.key}`
    const held = this.#claims.get(key)
    if (held !== undefined && now < held.until && held.trial === trial) {
      this.#last = held
      return held.claim
    }
    const { spread, accounting, unansweredGrace } = this.#policy
    const { cost } = demand
    const limits = this.#pace.inForce(demand, this.#clock, now)
    const interval = spread
      ? Math.max(0, ...this.#pace.kept.map(({ quota, window }) => (window / quota) * cost))
      : 0
    const until = Math.min(...limits.map((limit) => ('until' in limit ? limit.until : Infinity)))
    if (trial !== undefined) limits.push(trial)
    const claim = { key, cost, limits, interval, accounting, unansweredGrace }
    if (this.#claims.size >= mostClaims) this.#forgetClaims()
    this.#last = { demand, claim, until: Math.min(until, now + clockHolds), trial }
    this.#claims.set(key, this.#last)
    return claim
  }

  /** Whether the call that tries has been sent. */
  #isTried(trial: FixedLimit): boolean {
    const claim = this.#claimOf(this.plain, performance.now(), trial)
    return (this.#limiter.usage(claim).used?.at(-1) ?? 0) > 0
  }

  /** No response has come for long: the other calls follow, unless the one that tries is still waiting for a unit. */
  #endTrial(trial: FixedLimit, now: number): void {
    if (this.#isTried(trial)) this.#pauses.end()
    else this.#pauses.tryOn(trial, now)
  }

  /** Returns what a call waits for that got no unit. */
  #obstacle(queue: BudgetQueue, claim: Claim, ms: number, now: number): Obstacle {
    const { trial } = this.#pauses
    if (trial !== undefined && this.#isTried(trial)) return { cause: 'pause', ms: trial.until - now }
    if (!this.#pace.isLower && claim.limits.length > 0) {
      const { share, lag } = this.#usage()
      this.#watch.waits(share ?? 0, lag, now, queue.emit)
    }
    // a shared limiter that returns NaN is asked again
    return { cause: 'limit', ms: ms > 0 ? ms : 0 }
  }

  #refused(
    queue: BudgetQueue,
    unit: Unit,
    response: ResponseHead,
    named: readonly RateLimit[],
    now: number,
  ): void {
    const { longestPause, shortestPause, rateLimitHeaders } = queue.policy
    const isNew = unit.order > this.#refusedOrder
    const asked = readAsked(response, rateLimitHeaders) ?? 0
    const wasLight = this.#isLight
    if (isNew) this.#beginRefusals(unit)
    // a trial that fails says that the pause was too short, and nothing of the pace
    const count = unit.isTrial ? 0 : unit.demand.cost
    const { sentAt, demand } = unit
    const isLower = !this.#isLesson && this.#pace.refused(count, named, { demand, asked, isNew, sentAt, now })
    const mayBeLight = isNew ? !wasLight && this.#row.count === 1 : wasLight
    this.#isLight = mayBeLight && asked < leastAsked && this.#pace.shareRefused < fewRefused
    const wait = asked < leastAsked ? Math.max(asked, this.#backoff) : asked
    const ms = Math.max(shortestPause, Math.min(longestPause, wait))
    const pause = { ms, reason: 'refused', isTried: !this.#isLesson && !this.#isLight } as const
    if (isLower) this.#announced = 0
    this.#beginPause(queue, pause, now, response.status)
    if (isLower) this.#keepPace()
  }

  /** The API refused a call that was sent after its last refusal: one more in a row, but for one that follows a light pause. */
  #beginRefusals(unit: Unit): void {
    if (!this.#isLight) this.#row.count += 1
    this.#refusedOrder = this.#sent
    this.#isLesson = this.#mayLearn(unit)
  }

  /** Whether a refusal only teaches the limiter: then there is neither a trial call nor another pace. */
  #mayLearn({ order }: Unit): boolean {
    const { limits, accounting } = this.#policy
    const round = Math.max(0, ...limits.map(({ quota }) => quota))
    this.#lessons = this.#lessons.filter((sent) => order <= sent + lessonRounds * round)
    const isRare = this.#lessons.length < mostLessons
    this.#lessons.push(this.#sent)
    return accounting === 'learned' && !this.#pace.isLower && isRare
  }

  /** Returns how long to wait, in milliseconds, where the API does not say. */
  get #backoff(): number {
    const windows = this.#policy.limits.map(({ window }) => lengthOf(window))
    if (this.#isLight) return Math.max(lightPause, ...windows.filter((window) => window < unaskedPause.first))
    const ms = backoff(this.#row.count, unaskedPause)
    return this.#row.count < mostRefusals ? ms : Math.max(ms, ...windows)
  }

  #accepted(
    queue: BudgetQueue,
    { order, isTrial, sentAt, demand }: Unit,
    { status }: ResponseHead,
    named: readonly RateLimit[],
    now: number,
  ): void {
    const wasLight = this.#isLight
    if (order > this.#refusedOrder && status !== 401) {
      if (this.#row.count > 0) this.#row = { count: 0 }
      this.#isLight = false
    }
    if (this.#pace.isRefused && order > this.#refusedOrder) {
      // an API refuses a call at once, and accepts one in its own time
      const underWay = isTrial || wasLight ? this.#unanswered : 0
      this.#pace.recovered(now, this.#isLesson ? undefined : underWay)
      this.#keepPace(queue)
      this.#open()
    } else if (isTrial && this.#pauses.trial !== undefined) this.#open()
    if (this.#pace.accepted(demand.cost, named, { demand, sentAt, now })) this.#keepPace()
  }

  /** Keeps the limits that the API takes; `queue` says so where they are others than before. */
  #keepPace(queue?: BudgetQueue): void {
    const before = this.#kept
    this.#kept = this.#pace.kept
    this.#forgetClaims()
    this.#limiter.tell({ about: 'pace', text: this.#pace.text, for: paceHolds })
    const differs = this.#kept.some(({ quota }, index) => quota !== before[index]?.quota)
    if (queue !== undefined && differs && this.#allows !== undefined) this.#sayPaused(queue, this.#lastPause)
  }

  #readRemaining(
    queue: BudgetQueue,
    { order, sentAt, demand }: Unit,
    response: ResponseHead,
    now: number,
  ): void {
    const quota = readRemaining(response, queue.policy.rateLimitHeaders)
    if (quota === undefined) return
    this.#reportedStatus = response.status
    if (quota.remaining === 0) this.#pace.hold(now)
    const { limits } = this.#policy
    const { longestPause } = queue.policy
    const longestWindow =
      limits.length === 0 ? longestPause : Math.max(...limits.map(({ window }) => lengthOf(window)))
    const report = { ...quota, resetIn: Math.min(quota.resetIn, longestWindow, longestPause) }
    // as it was when the API counted the call: units have come free since
    const { left = Number.NEGATIVE_INFINITY } = this.#usage(demand, sentAt)
    const nextIn = this.#limiter.forecast(this.#claimOf(demand, now), 1, 0)
    const read = this.#reported.read(report, { order, sent: this.#sent, now }, left, nextIn)
    if (read?.remain === true && this.#pauses.shorten(now)) {
      this.#tellPause(0)
      this.#serveAll()
    }
    if (read !== undefined && read.usedUp > 0)
      this.#beginPause(queue, { ms: read.usedUp, reason: 'used-up', isTried: true }, now)
  }

  #beginPause(queue: BudgetQueue, pause: Pause, now: number, status = this.#reportedStatus): void {
    const { ms, reason } = pause
    // responses to calls that were under way together ask for one pause, and make one event
    const isNew = this.pausedUntil <= now || ms > this.#announced
    this.#pauses.begin(pause, now)
    if (!isNew) return
    this.#announced = ms
    this.#lastPause = { ms, reason, status }
    this.#sayPaused(queue, this.#lastPause)
    this.#tellPause(ms + longestTrial, JSON.stringify({ ...pause, row: this.#row.count }))
  }

  #sayPaused({ emit }: BudgetQueue, { ms, ...said }: LastPause): void {
    const allows = this.#allows
    const differs = allows && { allows, configured: this.#policy.limits }
    emit({ type: 'api.paused', api: this.#api, for: ms, ...said, ...differs })
  }

  #tellPause(ms: number, text = ''): void {
    this.#limiter.tell({ about: 'pause', text, for: ms })
  }

  /** Calls may be sent again. */
  #open(): void {
    this.#pauses.end()
    this.#tellPause(0)
    this.#turns.serveSoon()
  }

  #setLimits(policy: CheckedPolicy): void {
    this.#policy = policy
    this.#pace = new Pace(policy.limits)
    this.#watch = new PolicyWatch(this.#api, policy)
    this.#demands = this.#demandsOf(policy)
    this.#forgetClaims()
  }

  /** Other processes got so many responses. */
  #count(accepted: number, refused: number): void {
    const now = performance.now()
    const at = { demand: this.plain, sentAt: now, now }
    if (accepted > 0) this.#pace.accepted(accepted, [], at)
    if (refused > 0) this.#pace.refused(refused, [], { ...at, asked: 0, isNew: false })
  }

  /** Another process says something; what none of ours has written is ignored. */
  #hear({ about, text, for: ms }: Word): void {
    const now = performance.now()
    try {
      if (about === 'policy')
        this.#setLimits({ ...this.#policy, ...checkRatePolicy(JSON.parse(text), about) })
      else if (about === 'pace') this.#pace.hear(text, now)
      else if (about === 'pause') this.#hearPause(ms, text, now)
    } catch {
      return
    }
    this.#forgetClaims()
    this.#serveAll()
  }

  #hearPause(left: number, text: string, now: number): void {
    if (left === 0) {
      this.#row = { count: 0 }
      this.#pauses.end()
      this.#reported.forget()
      this.#pace.resumed(now)
      return
    }
    const { row, ...said } = readPause(JSON.parse(text), 'pause')
    this.#row.count = row
    this.#refusedOrder = this.#sent
    const { longestPause = 0 } = this.#first?.policy ?? {}
    const ms = Math.min(finiteDuration(left) - longestTrial, longestPause)
    const since = now + ms - said.ms
    if (ms > 0) this.#pauses.begin({ ...said, ms }, now, since)
    else this.#pauses.try({ since, until: now + ms }, now)
  }

  /** Units came free. */
  #serve(): void {
    if (this.#queues.size > 1) this.#turns.serve()
    else this.#first?.serve()
  }

  /** Lets every queue find out that it need not wait: as soon as the code that runs now has ended. */
  #serveAll(): void {
    for (const queue of this.#queues) queueMicrotask(() => queue.serve())
  }
}
