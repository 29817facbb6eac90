import { defined, type Emit, type NamedLimit } from '../events.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import { Asked } from './asked.ts'
import { Claims } from './claims.ts'
import type { AskingCall, Demand } from './demand.ts'
import { InUse, type LimitStatus } from './in-use.ts'
import { limiterOf } from './memory-limiter.ts'
import type { Pace } from './pace.ts'
import { longestTrial, type Pause, Pauses, readPause } from './pauses.ts'
import { PolicyWatch, type Slowed } from './policy-watch.ts'
import {
  isRefusal,
  readAsked,
  readPolicy,
  readRemaining,
  type ResponseHead,
  settledCost,
} from './rate-limit-headers.ts'
import type { Claim, FixedLimit, Permit, RateLimiter, RateLimiterFactory, Word } from './rate-limiter.ts'
import { type CheckedPolicy, checkRatePolicy, lengthOf, type RateLimit } from './rate-policy.ts'
import { type Refusal, Refusals } from './refusals.ts'
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

/** A pause, as its event says it. */
interface LastPause {
  readonly ms: number
  readonly reason: Pause['reason']
  readonly status: number
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
  readonly #refusals = new Refusals()
  readonly #claims: Claims
  readonly #inUse: InUse
  #watch: PolicyWatch
  readonly #asked: Asked
  /** Why the shared budget fails, while it does. */
  failure: string | undefined
  #sent = 0
  /** Calls without a response. */
  #unanswered = 0
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
    this.#claims = new Claims(api, policy, (demand) => !this.#inUse.of(demand).share)
    this.#watch = new PolicyWatch(api, policy)
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
    this.#asked = new Asked(this.#limiter)
    this.#inUse = new InUse(this.#limiter, this.#claims)
  }

  join(queue: BudgetQueue): void {
    this.#queues.add(queue)
    // from now on they take turns, and those that wait must have one
    if (this.#queues.size === 2) this.#serveAll()
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
      !this.#inUse.fullest
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
    return this.#refusals.now
  }

  /** Whether a refused call is given up: the API has accepted none for long since. */
  givesUp(refusal: Refusal, maxWait: number | undefined): boolean {
    return this.#refusals.givesUp(refusal, this.pausedUntil, maxWait)
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
    return this.#claims.demands.plain
  }

  /** Returns what a call takes. */
  demandOf(queue: BudgetQueue, call: AskingCall): Demand {
    return this.#claims.demands.of(call, queue.policy)
  }

  /** Returns the unit of a call that is sent now, or when to ask again; `couldUse` calls could be sent, this one included. */
  take(queue: BudgetQueue, demand: Demand, now: number, couldUse: number): Unit | Obstacle {
    const isShared = this.#queues.size > 1
    if (isShared && !this.#turns.mayTake(queue, demand, couldUse)) return { cause: 'limit', ms: Infinity }
    const { trial } = this.#pauses
    const claim = this.#claims.of(demand, now, trial)
    const permit = this.#asked.take(demand, claim, isShared ? this.#turns.wanted(demand.key) : couldUse)
    if (typeof permit === 'number') {
      const obstacle = this.#obstacle(queue, claim, permit, now)
      if (!isShared) return obstacle
      this.#turns.waits(obstacle.ms, obstacle.cause === 'pause' || this.#claims.demands.areAlike)
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
    this.#claims.readClock(response, unit.sentAt, now)
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
    const claim = this.#claims.of(demand, performance.now())
    const all = ahead + this.#turns.wantedBeside(queue, demand, ahead)
    return finiteDuration(this.#limiter.forecast(claim, all, lag, this.pausedUntil))
  }

  /** Returns about when the `ahead`-th call of a queue from now may be sent, in milliseconds from now. */
  estimate(queue: BudgetQueue, ahead: number, demand: Demand): number {
    return this.forecast(queue, ahead, demand, this.#inUse.of(demand).lag)
  }

  /** Returns the series of limits of which no further call can take its units now. */
  fullSeries(demand: Demand, now: number): readonly string[] {
    return this.#inUse.fullSeries(demand, now)
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

  /** No call of a queue can use a unit now, or none that takes this. */
  gaveUp(queue: BudgetQueue, demand?: Demand): void {
    this.#turns.leave(queue, demand)
    this.#asked.withdraw(demand, (key) => this.#turns.wanted(key) > 0)
  }

  status(): LimitsStatus {
    const pause = this.pausedUntil - performance.now()
    const { left = Infinity, arrivesWithin } = this.#inUse.of()
    const share = this.#inUse.fullest
    const learned = this.#policy.accounting === 'learned' ? arrivesWithin : undefined
    return defined({
      limiterFailure: this.failure,
      allows: this.#allows,
      slowed: this.#watch.slowed,
      arrivesWithin: learned === undefined ? undefined : Math.round(learned),
      quotaUsed: share === undefined ? undefined : Math.min(1, finiteDuration(share)),
      quotaLeft: left < Infinity && this.#policy.limits.length > 0 ? Math.max(0, left) : undefined,
      limits: this.#inUse.rows,
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

  #answered(unit: Unit): void {
    unit.isAnswered = true
    this.#unanswered -= 1
  }

  /** No response has come for long: the other calls follow, unless the one that tries is still waiting for a unit. */
  #endTrial(trial: FixedLimit, now: number): void {
    if (this.#inUse.isTried(trial)) this.#pauses.end()
    else this.#pauses.tryOn(trial, now)
  }

  /** Returns what a call waits for that got no unit. */
  #obstacle(queue: BudgetQueue, claim: Claim, ms: number, now: number): Obstacle {
    const { trial } = this.#pauses
    if (trial !== undefined && this.#inUse.isTried(trial)) return { cause: 'pause', ms: trial.until - now }
    if (!this.#pace.isLower && claim.limits.length > 0) {
      const { share, lag } = this.#inUse.of()
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
    const { policy, pace } = this.#claims
    const asked = readAsked(response, rateLimitHeaders) ?? 0
    const refusals = this.#refusals
    const isNew = refusals.refused(unit.order, this.#sent, pace.isLower, policy)
    const { isLesson } = refusals
    // a trial that fails says that the pause was too short, and nothing of the pace
    const count = unit.isTrial ? 0 : unit.demand.cost
    const { sentAt, demand } = unit
    const isLower = !isLesson && pace.refused(count, named, { demand, asked, isNew, sentAt, now })
    const wait = refusals.pause(asked, pace.shareRefused, isNew, policy)
    const ms = Math.max(shortestPause, Math.min(longestPause, wait))
    const pause = { ms, reason: 'refused', isTried: !isLesson && !refusals.isLight } as const
    if (isLower) this.#announced = 0
    this.#beginPause(queue, pause, now, response.status)
    if (isLower) this.#keepPace()
  }

  #accepted(
    queue: BudgetQueue,
    { order, isTrial, sentAt, demand }: Unit,
    { status }: ResponseHead,
    named: readonly RateLimit[],
    now: number,
  ): void {
    const { isLight: wasLight, isLesson } = this.#refusals
    const isAfter = this.#refusals.isAfter(order)
    if (status !== 401) this.#refusals.accepted(order)
    if (this.#pace.isRefused && isAfter) {
      // an API refuses a call at once, and accepts one in its own time
      const underWay = isTrial || wasLight ? this.#unanswered : 0
      this.#pace.recovered(now, isLesson ? undefined : underWay)
      this.#keepPace(queue)
      this.#open()
    } else if (isTrial && this.#pauses.trial !== undefined) this.#open()
    if (this.#pace.accepted(demand.cost, named, { demand, sentAt, now })) this.#keepPace()
  }

  /** Keeps the limits that the API takes; `queue` says so where they are others than before. */
  #keepPace(queue?: BudgetQueue): void {
    const before = this.#kept
    this.#kept = this.#pace.kept
    this.#claims.forget()
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
    const { left = Number.NEGATIVE_INFINITY } = this.#inUse.of(demand, sentAt)
    const nextIn = this.#limiter.forecast(this.#claims.of(demand, now), 1, 0)
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
    this.#tellPause(ms + longestTrial, JSON.stringify({ ...pause, row: this.#refusals.count }))
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
    this.#claims.setPolicy(policy)
    this.#watch = new PolicyWatch(this.#api, policy)
  }

  get #pace(): Pace {
    return this.#claims.pace
  }

  get #policy(): CheckedPolicy {
    return this.#claims.policy
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
    this.#claims.forget()
    this.#serveAll()
  }

  #hearPause(left: number, text: string, now: number): void {
    if (left === 0) {
      this.#refusals.end()
      this.#pauses.end()
      this.#reported.forget()
      this.#pace.resumed(now)
      return
    }
    const { row, ...said } = readPause(JSON.parse(text), 'pause')
    this.#refusals.hear(row, this.#sent)
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
