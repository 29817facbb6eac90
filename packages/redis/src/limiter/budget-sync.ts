import type { BudgetLevel } from './budget-level.ts'
import type { Demand } from './demand.ts'
import { reasonOf } from './failure-reason.ts'
import { longestUnreported, shortestSpan } from './fleet-policy.ts'
import type { FleetPause } from './fleet-pause.ts'
import { type Ledger, lease } from './ledger.ts'
import type { Membership } from './membership.ts'
import type { BudgetRequest, BudgetResponse, Exchange } from './protocol.ts'
import { Reachability } from './reachability.ts'
import { RedisRequests } from './redis-requests.ts'
import { RequestSchedule } from './request-schedule.ts'
import type { Runtime } from './runtime.ts'
import type { UnitsAhead } from './units-ahead.ts'
import type { UnitsInUse } from './units-in-use.ts'
import { Unreported } from './unreported.ts'

/** How much earlier than promised a response may come without a request of its own, in milliseconds. */
const longestUseless = 1_000

/** What a process learns from Redis. */
export interface SyncListener {
  /** Redis cannot be reached. */
  lost(reason: string): void
  /** Redis responds again. */
  found(): void
  paused(ms: number): void
  resumed(): void
}

/** What requests report, and what responses change. */
export interface Subjects {
  readonly demand: Demand
  readonly ledger: Ledger
  readonly ahead: UnitsAhead
  readonly inUse: UnitsInUse
  readonly pause: FleetPause
  readonly membership: Membership
  readonly level: BudgetLevel
}

/** Keeps this process and Redis in step: each request states everything, and each response is acted upon. */
export class BudgetSync {
  readonly #subjects: Subjects
  readonly #runtime: Runtime
  readonly #listener: SyncListener
  readonly #reachability = new Reachability()
  readonly #unreported = new Unreported()
  readonly #requests: RedisRequests<BudgetRequest, BudgetResponse | 'stale'>
  readonly #schedule: RequestSchedule
  #last: BudgetRequest | undefined

  constructor(
    subjects: Subjects,
    exchange: Exchange,
    timeout: number,
    runtime: Runtime,
    listener: SyncListener,
  ) {
    this.#subjects = subjects
    this.#runtime = runtime
    this.#listener = listener
    this.#requests = new RedisRequests(exchange, runtime, timeout, {
      responded: (response, sentAt) => this.#responded(response, sentAt),
      unreachable: (reason) => this.#lose(reason),
      free: () => this.#goOn(),
    })
    this.#schedule = new RequestSchedule(runtime, {
      isFree: () => this.#requests.isFree,
      isIdle: () => subjects.demand.isNone,
      sendAt: () => this.#sendAt(),
      send: () => this.#send(),
    })
  }

  /** Finds out anew when the next request must leave. */
  plan(): void {
    this.#schedule.plan()
  }

  /** Reports to Redis as soon as a request may leave. */
  report(): void {
    this.#unreported.add()
    this.plan()
  }

  /**
   * Reports a response that came `late` milliseconds after it was promised: at once if it is late, since Redis grants
   * its unit again as if it had come in time; with other changes if it is early by enough to matter.
   */
  reportResponse(late: number): void {
    const span = shortestSpan(this.#subjects.ledger.policy)
    if (late > 0) this.#unreported.add()
    else if (-late >= Math.min(span / 8, longestUseless))
      this.#unreported.addEarlyResponse(this.#runtime.now())
    this.plan()
  }

  /** Sends the last report and ends. Stops waiting when Redis does not respond in time. */
  async close(): Promise<void> {
    const hasReport = !this.#unreported.isNone || this.#subjects.demand.isQueued
    await this.#schedule.close(!this.#reachability.isAway && hasReport && this.#last !== undefined)
    this.#requests.close()
  }

  #goOn(): void {
    this.#unreported.repeat()
    this.plan()
  }

  #sendAt(): number {
    if (this.#reachability.isAway) return Number.NEGATIVE_INFINITY
    const { demand, ahead, ledger } = this.#subjects
    const unreportedAt = this.#unreported.sendAt(this.#longestUnreported)
    return Math.min(unreportedAt, demand.sendAt(ahead.count), ledger.reportAt)
  }

  get #longestUnreported(): number {
    return Math.min(longestUnreported, shortestSpan(this.#subjects.ledger.policy) / 4)
  }

  /** Returns 0 for the promise of other processes, which holds for a process that is as near to Redis. */
  get #othersPromise(): number {
    return this.#requests.roundTrip < shortestSpan(this.#subjects.ledger.policy) / 8 ? 0 : lease
  }

  #send(): void {
    const now = this.#runtime.now()
    const { demand, ledger, ahead, inUse, pause, membership, level } = this.#subjects
    const promise = inUse.responseTimes.promise(now, shortestSpan(ledger.policy)) ?? this.#othersPromise
    this.#last = {
      policy: ledger.policy,
      ...membership.introduce(),
      ...pause.report(now),
      ...this.#reachability.report(now),
      units: ledger.state(now),
      wanted: this.#reachability.isAway ? 0 : demand.beyond(ahead.count),
      promise,
      lag: promise > 0 && promise < lease ? promise : inUse.responseTimes.mean,
      times: inUse.responseTimes.report(),
      reported: level.report(now),
    }
    this.#unreported.sent()
    this.#requests.send(this.#last)
  }

  #responded(response: BudgetResponse | 'stale', sentAt: number): void {
    const request = this.#last
    if (response === 'stale' || request === undefined) return this.#unreported.add()
    const now = this.#runtime.now()
    const { demand, ahead, membership, level } = this.#subjects
    this.#unreported.responded()
    membership.update(response, now)
    level.update(response, now)
    demand.update(response, now, this.#requests.roundTrip)
    this.#updatePause(response, request)
    const outcome = this.#reachability.responded(request)
    if (outcome === 'found') this.#find()
    const granted = ahead.add(response, sentAt, this.#longestUnreported)
    demand.queue(request.wanted > granted)
    if (outcome === 'outdated') ahead.drop(Infinity)
    else if (granted > 0) ahead.offer()
    this.#schedule.responded()
  }

  #updatePause({ pause }: BudgetResponse, request: BudgetRequest): void {
    if (pause > 0) this.#listener.paused(pause)
    const change = this.#subjects.pause.update(this.#runtime.now(), request, pause)
    if (change === 'lifted') this.#listener.resumed()
  }

  /** Redis does not respond; the listener hears of it once until Redis is found again. */
  #lose(reason: unknown): void {
    const isNew = !this.#reachability.isAway
    this.#reachability.lose(this.#requests.unansweredSince)
    this.#subjects.demand.queue(false)
    this.#schedule.giveUp()
    if (isNew) this.#listener.lost(reasonOf(reason))
  }

  /** Redis responds again, and must know what was sent since the last request that it knows. */
  #find(): void {
    this.#subjects.demand.askAtOnce()
    this.#unreported.add()
    this.#listener.found()
  }
}
