import type { BudgetLevel } from './budget-level.ts'
import type { Demand } from './demand.ts'
import { reasonOf } from '../failure-reason.ts'
import { longestUnreported, shortestSpan } from './fleet-policy.ts'
import type { FleetPause } from './fleet-pause.ts'
import { type Ledger, lease } from './ledger.ts'
import type { BudgetRequest, BudgetResponse, Exchange } from './protocol.ts'
import type { Reachability } from './reachability.ts'
import { RedisRequests } from './redis-requests.ts'
import { RequestSchedule } from './request-schedule.ts'
import type { Runtime } from './runtime.ts'
import type { UnitsAhead } from './units-ahead.ts'
import type { UnitsInUse } from './units-in-use.ts'

/** How much earlier than promised a response may come without a request of its own: this part of a window, in milliseconds at most. */
const useless = 0.05
const longestUseless = 1_000

/** What a process learns from Redis. */
export interface SyncListener {
  /** Redis cannot be reached; `isNew` unless that was so before, and the process was about to return. */
  lost(reason: string, isNew: boolean): void
  /** Redis responds again, and knows what this process has sent. */
  found(): void
  /** A request failed. */
  failed(error: unknown): void
  /** There was no response and no error for seconds. */
  silent(): void
  /** Redis grants nothing until others have returned; each process sends its share, in `silence` milliseconds. */
  shares(silence: number): void
  paused(ms: number): void
  resumed(): void
}

/** How a process reaches Redis; `timeout` in milliseconds. */
export interface SyncOptions {
  readonly exchange: Exchange
  /** Names the process. */
  readonly name: string
  readonly timeout: number
  readonly runtime: Runtime
}

/** What requests report, and what responses change. */
export interface Subjects {
  readonly demand: Demand
  readonly ledger: Ledger
  readonly ahead: UnitsAhead
  readonly inUse: UnitsInUse
  readonly pause: FleetPause
  readonly level: BudgetLevel
  readonly reachability: Reachability
}

/** Keeps this process and Redis in step: each request states everything, and each response is acted upon. */
export class BudgetSync {
  readonly #subjects: Subjects
  readonly #name: string
  readonly #runtime: Runtime
  readonly #listener: SyncListener
  readonly #requests: RedisRequests<BudgetRequest, BudgetResponse | 'stale'>
  readonly #schedule: RequestSchedule
  #last: BudgetRequest | undefined
  /** Since when a change waits that Redis does not know: `Infinity` for none, `-Infinity` for one that is urgent. */
  #unreportedSince = Infinity
  /** How many requests have left; the history of Redis in the last response. */
  #number = 0
  #heard: Pick<BudgetRequest, 'epoch' | 'turn' | 'member'> = { epoch: '', turn: 0, member: 0 }
  /** Redis' clock less that of this process, in milliseconds. */
  #offset = 0
  #sharesUntil = Number.NEGATIVE_INFINITY

  constructor(subjects: Subjects, { exchange, name, timeout, runtime }: SyncOptions, listener: SyncListener) {
    this.#subjects = subjects
    this.#name = name
    this.#runtime = runtime
    this.#listener = listener
    this.#requests = new RedisRequests(exchange, runtime, timeout, {
      responded: (response, sentAt) => this.#responded(response, sentAt),
      failed: (error) => listener.failed(error),
      silent: () => listener.silent(),
      unreachable: (reason) => this.#lose(reason),
      unanswered: () => this.report(),
    })
    this.#schedule = new RequestSchedule(runtime, {
      isFree: () => this.#requests.isFree,
      isIdle: () => subjects.demand.wanted === 0,
      sendAt: () => this.#sendAt(),
      send: () => this.#send(),
    })
  }

  /** Whether this process sends its own share: it does not reach Redis, or others may not. */
  get isSharing(): boolean {
    return !this.#subjects.reachability.isTogether || this.#runtime.now() < this.#sharesUntil
  }

  /** The number of this process in the fleet, 0 before Redis has given it one, and how Redis' clock differs. */
  get turn(): { readonly member: number; readonly offset: number } {
    return { member: this.#heard.member, offset: this.#offset }
  }

  /** Finds out anew when the next request must leave. */
  plan(): void {
    this.#schedule.plan()
  }

  /** Reports to Redis as soon as a request may leave. */
  report(): void {
    this.#unreportedSince = Number.NEGATIVE_INFINITY
    this.plan()
  }

  /**
   * Reports a response that came `late` milliseconds after it was promised: at once if it is late, since Redis grants
   * its unit again as if it had come in time; with other changes if it is early by enough to matter.
   */
  reportResponse(late: number): void {
    const span = shortestSpan(this.#subjects.ledger.policy)
    if (late > 0) return this.report()
    if (-late >= Math.min(useless * span, longestUseless))
      this.#unreportedSince = Math.min(this.#unreportedSince, this.#runtime.now())
    this.plan()
  }

  /** Sends the last report and ends. Stops waiting when Redis does not respond in time. */
  async close(): Promise<void> {
    const { demand, reachability } = this.#subjects
    const hasReport = this.#unreportedSince < Infinity || demand.isQueued
    await this.#schedule.close(!reachability.isAway && hasReport && this.#last !== undefined)
    this.#requests.close()
  }

  #sendAt(): number {
    const { demand, ahead, inUse, ledger, reachability } = this.#subjects
    if (reachability.isAway) return Number.NEGATIVE_INFINITY
    const unreportedAt = this.#unreportedSince + longestUnreported(ledger.policy)
    return Math.min(unreportedAt, demand.sendAt(ahead.count, inUse.patience(ahead.count)), ledger.reportAt)
  }

  /** Returns 0 for the promise of other processes; units of a process that is far from Redis come too late for that. */
  get #othersPromise(): number {
    return this.#requests.roundTrip < longestUnreported(this.#subjects.ledger.policy) / 2 ? 0 : lease
  }

  #send(): void {
    const now = this.#runtime.now()
    const { demand, ledger, ahead, inUse, pause, level, reachability } = this.#subjects
    const promise = inUse.responseTimes.promise(now, shortestSpan(ledger.policy)) ?? this.#othersPromise
    const wanted = reachability.isAway ? 0 : demand.beyond(ahead.count)
    this.#last = {
      policy: ledger.policy,
      process: this.#name,
      number: (this.#number += 1),
      ...this.#heard,
      ...pause.report(now),
      ...reachability.report(now),
      units: ledger.state(now),
      wanted,
      warm: Math.min(wanted, inUse.warm(ahead.count)),
      gather: inUse.gather,
      promise,
      lag: promise > 0 && promise < lease ? promise : inUse.responseTimes.mean,
      times: inUse.responseTimes.report(),
      roundTrips: inUse.roundTrips.report(),
      reported: level.report(now),
    }
    this.#unreportedSince = Infinity
    this.#requests.send(this.#last)
  }

  #responded(response: BudgetResponse | 'stale', sentAt: number): void {
    const request = this.#last
    if (response === 'stale' || request === undefined) return this.report()
    const now = this.#runtime.now()
    const { demand, ahead, inUse, ledger, level, reachability } = this.#subjects
    const { epoch, turn, member } = response
    this.#heard = { epoch, turn, member }
    this.#offset = response.now - now
    level.update(response, now)
    inUse.roundTrips.update(response.roundTrips, now, shortestSpan(ledger.policy))
    demand.update(response, now, this.#requests.roundTrip)
    this.#updatePause(response, request)
    const outcome = reachability.responded(request)
    if (outcome === 'returning') {
      // Redis must know what was sent since the last request that it knows
      demand.askAtOnce()
      this.#unreportedSince = Number.NEGATIVE_INFINITY
    }
    if (outcome !== 'outdated') this.#share(response, now)
    if (outcome === 'back') this.#listener.found()
    const granted = ahead.add(response, sentAt, inUse.lead)
    demand.isQueued = request.wanted > granted
    if (outcome === 'outdated') ahead.drop(Infinity)
    else if (granted > 0) ahead.offer()
    this.#schedule.responded()
    this.plan()
  }

  #updatePause({ pause }: BudgetResponse, request: BudgetRequest): void {
    if (pause > 0) this.#listener.paused(pause)
    const change = this.#subjects.pause.update(this.#runtime.now(), request, pause)
    if (change === 'lifted') this.#listener.resumed()
  }

  /** Redis does not respond; the listener hears of it once until Redis is found again. */
  #lose(reason: unknown): void {
    const { demand, reachability } = this.#subjects
    const isNew = reachability.isTogether
    reachability.lose(this.#requests.unansweredSince)
    demand.isQueued = false
    this.#schedule.giveUp()
    this.#listener.lost(reasonOf(reason), isNew)
  }

  /** Shares end a little before Redis grants again, so that it knows of all that was sent. */
  #share({ sharesFrom, sharesUntil }: BudgetResponse, now: number): void {
    if (sharesUntil > 0) this.#listener.shares(sharesFrom)
    this.#sharesUntil = now + sharesUntil - longestUnreported(this.#subjects.ledger.policy)
  }
}
