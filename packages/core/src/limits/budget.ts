import { defined, type Emit, type NamedLimit } from '../events.ts'
import { dateFromNow, finiteDuration } from '../time/duration.ts'
import { Asked } from './asked.ts'
import { Claims } from './claims.ts'
import type { Demand } from './demand.ts'
import { InUse, type LimitStatus } from './in-use.ts'
import { limiterOf } from './memory-limiter.ts'
import { PolicyWatch, type Slowed } from './policy-watch.ts'
import { readAnswer, readPolicy, type ResponseHead } from './rate-limit-headers.ts'
import type { Claim, RateLimiter, RateLimiterFactory, Word } from './rate-limiter.ts'
import { type CheckedPolicy, checkRatePolicy, type RateLimit } from './rate-policy.ts'
import type { RefusedCall } from './refusals.ts'
import { type Restrained, Restraint, type Unit } from './restraint.ts'
import { type Sharer, Turns } from './turns.ts'

export interface BudgetQueue extends Sharer, Restrained {
  /** The calls that wait after the API refused them for its limit. */
  readonly refused?: ReadonlySet<RefusedCall>
  /** Ends the wait of such a call. */
  giveUp?(call: RefusedCall): void
}

const none: readonly RateLimit[] = []

/** Why no call can be sent now, and for how many milliseconds; `Infinity`: until something changes. */
export interface Obstacle {
  readonly cause: 'limit' | 'pause'
  readonly ms: number
}

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

/**
 * What an API allows: units of its limits, as far as its responses let calls go. One object for all that share it: one
 * queue, those of tenants, and, through the limiter, those of other processes.
 */
export class Budget {
  readonly #api: string
  readonly #limiter: RateLimiter
  readonly #queues = new Set<BudgetQueue>()
  readonly #turns = new Turns<BudgetQueue>()
  readonly claims: Claims
  readonly inUse: InUse
  /** How far the API makes calls hold back. */
  readonly restraint: Restraint
  #watch!: PolicyWatch
  /** `undefined` where units are kept in this process: then none are reserved. */
  readonly #asked: Asked | undefined
  /** Why the shared budget fails; empty while it works. */
  failure = ''
  /** Whether it outlives its queues. */
  readonly #isKept: boolean

  /** @param create makes the limiter; without it the units are kept in this process's memory. */
  constructor(api: string, policy: CheckedPolicy, create: RateLimiterFactory | undefined, isKept = false) {
    this.#api = api
    this.#isKept = isKept
    this.claims = new Claims(api, (demand) => !this.inUse.of(demand).share)
    this.#setLimits(policy)
    const emit: (...event: Parameters<Emit>) => void = (event) => this.#first?.emit(event)
    this.#limiter = limiterOf(create, {
      baseUrl: api,
      unitsAvailable: () => this.#serve(),
      heard: (word) => this.#hear(word),
      counted: (accepted, refused) => this.restraint.count(accepted, refused),
      failed: (reason) => {
        this.failure = reason
        emit({ type: 'limiter.failed', api, reason })
      },
      recovered: () => {
        this.failure = ''
        emit({ type: 'limiter.recovered', api })
      },
    })
    this.#asked = create && new Asked(this.#limiter)
    this.inUse = new InUse(this.#limiter, this.claims)
    this.restraint = new Restraint(api, this.claims, this.inUse, this.#limiter, {
      soon: () => this.#turns.serveSoon(),
      all: () => this.#serveAll(),
    })
  }

  join(queue: BudgetQueue): void {
    this.#queues.add(queue)
    // from now on they take turns, and those that wait must have one
    if (this.#queues.size === 2) this.#serveAll()
  }

  /** Called by a queue whose last call has ended. */
  async leave(queue: BudgetQueue): Promise<void> {
    this.gaveUp(queue)
    this.#queues.delete(queue)
    if (this.#queues.size === 0 && !this.#isKept) await this.close()
  }

  /** Whether no queue uses it and a new budget would allow no more. */
  get isUnused(): boolean {
    return (
      this.#queues.size === 0 &&
      this.restraint.pauses.until <= performance.now() &&
      !this.claims.pace.isLower &&
      !this.inUse.fullest
    )
  }

  async close(): Promise<void> {
    this.restraint.pauses.end()
    await this.#limiter.close()
  }

  /** @param couldUse - how many calls could be sent, this one included. */
  take(queue: BudgetQueue, demand: Demand, now: number, couldUse: number): Unit | Obstacle {
    const isShared = this.#queues.size > 1
    if (isShared && !this.#turns.mayTake(queue, demand, couldUse)) return { cause: 'limit', ms: Infinity }
    const claim = this.claims.of(demand, now, this.restraint.pauses.trial)
    const wanted = isShared ? this.#turns.wanted(demand.key) : couldUse
    const permit = this.#asked?.take(demand, claim, wanted) ?? this.#limiter.take(claim, wanted)
    if (typeof permit === 'number') {
      const obstacle = this.#obstacle(queue, claim, permit, now)
      if (!isShared) return obstacle
      this.#turns.waits(obstacle.ms, obstacle.cause === 'pause' || this.claims.demands.areAlike)
      return { ...obstacle, ms: Infinity }
    }
    if (isShared) this.#turns.took(queue)
    return this.restraint.sent(queue, permit, demand, now)
  }

  /** Reads the response to a call, and returns whether the API refused the call for its limit. */
  responded(queue: BudgetQueue, unit: Unit, response: ResponseHead): boolean {
    const { policy, emit } = queue
    const now = performance.now()
    const answer = readAnswer(response, unit.demand.cost, policy)
    const { isRefused } = answer
    unit.permit.answered(answer)
    if (this.claims.pace.hasCalendar) this.claims.readClock(response, unit.sentAt, now)
    const isReporting = emit.isObserved && this.#watch.isReporting
    const isRead = policy.rateLimitHeaders && (isRefused || isReporting || this.claims.pace.isLower)
    const named = isRead ? readPolicy(response) : none
    this.restraint.responded(queue, unit, { response, isRefused, named, now })
    if (isRefused)
      for (const each of this.#queues)
        if (each.refused !== undefined && each.refused.size > 0) this.#giveUpIn(each)
    if (isReporting && named.length > 0) this.#watch.compare(named, emit)
    return isRefused
  }

  ended(unit: Unit, wasSent: boolean): void {
    if (wasSent) unit.permit.ended()
    else unit.permit.cancel()
    if (!unit.isAnswered || unit.isTrial) this.restraint.ended(unit, wasSent)
    if (this.#queues.size > 1) this.#turns.serveSoon()
  }

  /**
   * Returns the milliseconds until the `ahead`-th call of a queue from now may be sent: at the earliest, or about, with how
   * much later than one window after its send a unit comes free.
   */
  forecast(queue: BudgetQueue, ahead: number, demand: Demand = this.claims.demands.plain, lag = 0): number {
    const claim = this.claims.of(demand, performance.now())
    const all = ahead + this.#turns.wantedBeside(queue, demand, ahead)
    return finiteDuration(this.#limiter.forecast(claim, all, lag, this.restraint.pauses.until))
  }

  /** Takes another policy of one queue, whose limits hold for all queues. */
  setPolicy(policy: CheckedPolicy): void {
    this.#setLimits(policy)
    const { limits, spread, accounting, unansweredGrace } = policy
    const text = JSON.stringify({ limits, spread, accounting, unansweredGrace })
    this.#limiter.tell({ about: 'policy', text, for: Infinity })
    this.#turns.serveSoon()
  }

  /** No call of a queue can use a unit now, or none of this kind. */
  gaveUp(queue: BudgetQueue, demand?: Demand): void {
    this.#turns.leave(queue, demand)
    this.#asked?.withdraw(demand, (key) => this.#turns.wanted(key) > 0)
  }

  status(): LimitsStatus {
    const pause = this.restraint.pauses.until - performance.now()
    const { left = Infinity, arrivesWithin } = this.inUse.of()
    const share = this.inUse.fullest
    const { accounting, limits } = this.claims.policy
    const learned = accounting === 'learned' ? arrivesWithin : undefined
    return defined({
      limiterFailure: this.failure || undefined,
      allows: this.restraint.allows,
      slowed: this.#watch.slowed,
      arrivesWithin: learned === undefined ? undefined : Math.round(learned),
      quotaUsed: share === undefined ? undefined : Math.min(1, finiteDuration(share)),
      quotaLeft: left < Infinity && limits.length > 0 ? Math.max(0, left) : undefined,
      limits: this.inUse.rows,
      pausedUntil: pause > 0 ? dateFromNow(pause) : undefined,
    })
  }

  get #first(): BudgetQueue | undefined {
    const [first] = this.#queues
    return first
  }

  #obstacle(queue: BudgetQueue, claim: Claim, ms: number, now: number): Obstacle {
    const { trial } = this.restraint.pauses
    if (trial !== undefined && this.inUse.isTried(trial)) return { cause: 'pause', ms: trial.until - now }
    if (!this.claims.pace.isLower && claim.limits.length > 0) {
      const { share, lag } = this.inUse.of()
      this.#watch.waits(share ?? 0, lag, now, queue.emit)
    }
    // a shared limiter that returns NaN is asked again
    return { cause: 'limit', ms: ms > 0 ? ms : 0 }
  }

  #setLimits(policy: CheckedPolicy): void {
    this.claims.setPolicy(policy)
    this.#watch = new PolicyWatch(this.#api, policy)
  }

  /** Takes a word of another process; ignores what was not written by Tokenlane. */
  #hear(word: Word): void {
    const { about, text } = word
    try {
      if (about === 'policy')
        this.#setLimits({ ...this.claims.policy, ...checkRatePolicy(JSON.parse(text), about) })
      else this.restraint.hear(word, this.#first?.policy.longestPause)
    } catch {
      return
    }
    this.claims.forget()
    for (const queue of this.#queues) this.#giveUpIn(queue)
    this.#serveAll()
  }

  #giveUpIn(queue: BudgetQueue): void {
    for (const call of queue.refused ?? [])
      if (this.restraint.isInVain(call, queue.policy.maxWait)) queue.giveUp?.(call)
  }

  #serve(): void {
    if (this.#queues.size > 1) this.#turns.serve()
    else this.#first?.serve()
  }

  /** Serves every queue once the code that runs now has ended. */
  #serveAll(): void {
    for (const queue of this.#queues) queueMicrotask(() => queue.serve())
  }
}
