import { isRequestBound } from '../runtime/request-bound.ts'
import { ApiBudget } from './api-budget.ts'
import type { SentCall } from './api-pauses.ts'
import type { Budget, SpentUnit } from './budget.ts'
import type { LimiterChoice } from './limiter-factory.ts'
import { queueTimer } from './queue-timer.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { NotBefore, Permit } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'

/**
 * Shares the budget of one API among the queues of several tenants: the queues that wait get one unit each, in turn.
 *
 * A queue whose turn comes asks for its unit. One that cannot use it, because it has no slot, token or call left, is
 * passed over, and takes its place at the end when it asks again. One timer runs for all of them, and only while a queue
 * waits.
 */
export class FairTurns {
  readonly #budget: ApiBudget
  /** The queues that wait, the next one first, and how many units each of them could use. */
  readonly #waiting = new Map<TenantShare, number>()
  /** The sum of what they could use. */
  #wanted = 0
  #shares = 0
  /** The queue that may take a unit now. */
  #turn: TenantShare | undefined
  /** How long the limiter lets the queue wait whose turn it is. */
  #limitedFor = 0
  #isServing = false
  #willServe = false
  readonly #mayWait = !isRequestBound()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: LimiterChoice) {
    this.#budget = new ApiBudget(options, () => this.#serve())
  }

  /**
   * Adds a queue, until it closes its budget.
   *
   * @param serve is called when the turn of the queue has come.
   */
  join(serve: () => void): Budget {
    this.#shares += 1
    return new TenantShare(this, this.#budget, serve)
  }

  /** Returns for how long the API is paused; the queue is served after it. */
  pausedFor(share: TenantShare, now: number): number {
    const pause = this.#budget.pausedFor(now)
    if (pause === 0) return 0
    this.#wait(share, this.#waiting.get(share) ?? 1)
    return Infinity
  }

  /** Returns a permit if it is the turn of the queue and the limits allow it; otherwise the queue waits for its turn. */
  take(share: TenantShare, couldUse: number): Permit | NotBefore {
    const isFirst = this.#turn === share || (this.#waiting.size === 0 && !this.#isServing)
    if (!isFirst) {
      this.#wait(share, couldUse)
      return Infinity
    }
    const wantedByOthers = this.#wanted - (this.#waiting.get(share) ?? 0)
    const outcome = this.#budget.take(couldUse + wantedByOthers)
    if (typeof outcome === 'number') {
      // a limiter that says NaN or 0 is asked again
      this.#limitedFor = outcome > 0 ? outcome : 1
      this.#enter(share, couldUse)
      if (!this.#isServing) this.#sleep(this.#limitedFor)
      return Infinity
    }
    this.#remove(share)
    this.#turn = undefined
    return outcome
  }

  /** Returns how many units the other waiting queues get before this one has had `units`. */
  unitsOfOthers(share: TenantShare, units: number): number {
    let others = 0
    for (const [other, couldUse] of this.#waiting) if (other !== share) others += Math.min(couldUse, units)
    return others
  }

  /** Serves the queues that wait as soon as the code that runs now has ended: it may still have to judge a response. */
  serveSoon(): void {
    if (this.#willServe || this.#isServing || this.#waiting.size === 0) return
    this.#willServe = true
    queueMicrotask(() => {
      this.#willServe = false
      this.#serve()
    })
  }

  /** Notes that no call of a queue waits any more. */
  leave(share: TenantShare): void {
    if (!this.#remove(share)) return
    if (this.#waiting.size > 0) return this.serveSoon()
    clearTimeout(this.#timer)
    this.#budget.noWaiters()
  }

  /** Ends the budget with the last queue. */
  async close(share: TenantShare): Promise<void> {
    this.leave(share)
    this.#shares -= 1
    if (this.#shares === 0) await this.#budget.close()
  }

  #wait(share: TenantShare, couldUse: number): void {
    this.#enter(share, couldUse)
    // finds out how long, and says to the limiter how much is wanted now
    this.serveSoon()
  }

  /** Adds a queue at the end, or keeps it at its place. */
  #enter(share: TenantShare, couldUse: number): void {
    this.#wanted += couldUse - (this.#waiting.get(share) ?? 0)
    this.#waiting.set(share, couldUse)
  }

  /** Takes a queue out, and returns whether it waited. */
  #remove(share: TenantShare): boolean {
    this.#wanted -= this.#waiting.get(share) ?? 0
    return this.#waiting.delete(share)
  }

  #serve(): void {
    if (this.#isServing) return
    clearTimeout(this.#timer)
    this.#isServing = true
    const wait = this.#serveInTurn()
    this.#isServing = false
    if (this.#waiting.size > 0) this.#sleep(wait)
  }

  /** Gives units for as long as there are any, and returns how long the next queue has to wait. */
  #serveInTurn(): number {
    for (;;) {
      const pause = this.#budget.pausedFor(performance.now())
      if (pause > 0) return pause
      const next = this.#next()
      if (next === undefined) return Infinity
      this.#limitedFor = 0
      this.#turn = next
      next.serve()
      const usedNoTurn = this.#turn === next
      this.#turn = undefined
      if (this.#limitedFor > 0) return this.#limitedFor
      if (usedNoTurn) this.#remove(next)
    }
  }

  #next(): TenantShare | undefined {
    const [next] = this.#waiting.keys()
    return next
  }

  #sleep(ms: number): void {
    clearTimeout(this.#timer)
    // a runtime that ends timers with their request looks for itself
    if (ms < Infinity && this.#mayWait) this.#timer = queueTimer(ms, () => this.#serve())
  }
}

/** What the queue of one tenant has of a shared budget. */
class TenantShare implements Budget {
  readonly #turns: FairTurns
  readonly #budget: ApiBudget
  readonly serve: () => void

  constructor(turns: FairTurns, budget: ApiBudget, serve: () => void) {
    this.#turns = turns
    this.#budget = budget
    this.serve = serve
  }

  get pausedUntil(): number {
    return this.#budget.pausedUntil
  }

  /** The other shares, and the manager's, keep it. */
  get isUnspent(): boolean {
    return true
  }

  get nextOrder(): number {
    return this.#budget.nextOrder
  }

  pausedFor(now: number): number {
    return this.#turns.pausedFor(this, now)
  }

  take(couldUse: number): Permit | NotBefore {
    return this.#turns.take(this, couldUse)
  }

  sent(call: SentCall): void {
    this.#budget.sent(call)
  }

  answered(call: SpentUnit, response: ResponseHead): boolean {
    const isRefused = this.#budget.answered(call, response)
    this.#turns.serveSoon()
    return isRefused
  }

  left(call: SpentUnit, sent: boolean): void {
    this.#budget.left(call, sent)
    this.#turns.serveSoon()
  }

  forecast(ahead: number, roundTrip: number, from?: number): number {
    return this.#budget.forecast(ahead + this.#turns.unitsOfOthers(this, ahead), roundTrip, from)
  }

  used(): number | undefined {
    return this.#budget.used()
  }

  unitsLeft(): number | undefined {
    return this.#budget.unitsLeft()
  }

  resume(): void {
    this.#budget.resume()
    this.#turns.serveSoon()
  }

  setPolicy(policy: CheckedPolicy): void {
    this.#budget.setPolicy(policy)
    this.#turns.serveSoon()
  }

  noWaiters(): void {
    this.#turns.leave(this)
  }

  close(): Promise<void> {
    return this.#turns.close(this)
  }
}
