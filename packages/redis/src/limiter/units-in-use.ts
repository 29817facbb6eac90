import {
  Arrivals,
  defaultGrace,
  type LimitedApi,
  type Permit,
  type RateLimiterOptions,
  type SentRequest,
} from '@tokenlane/core/fleet'
import { longestUnreported, shortestSpan } from './fleet-policy.ts'
import { FleetRoundTrips } from './fleet-round-trips.ts'
import { ResponseTimes } from './response-times.ts'
import type { Batch, Ledger } from './ledger.ts'
import type { Runtime } from './runtime.ts'

/**
 * For how many times `unansweredGrace` a process that would need a new connection lets others go first. With less, more
 * connections are opened, whose units count for longer; with more, units wait for a process.
 */
const patienceOfGrace = 5
/** Units gather for this part of the shortest span at most. */
const longestGathering = 1 / 10

/** What becomes of units in use. */
export interface UseListener {
  /** A request has arrived at the latest `late` milliseconds after the time at which Redis presumes it. */
  ended(late: number): void
  /** A request may arrive later than was known when it was sent, or a connection is free. */
  changed(): void
  unused(batch: Batch, count: number): void
}

/**
 * Gives permits to calls, notes in the ledger when the request of each has arrived at the latest, and learns how long
 * after its due time that is.
 */
export class UnitsInUse {
  readonly #runtime: Runtime
  readonly #ledger: Ledger
  readonly #listener: UseListener
  readonly arrivals: Arrivals
  readonly responseTimes: ResponseTimes = new ResponseTimes()
  readonly roundTrips: FleetRoundTrips = new FleetRoundTrips()
  #grace = defaultGrace
  #isLearning = false
  /** How long the last response took, in milliseconds. */
  took = 0

  constructor(api: LimitedApi, runtime: Runtime, ledger: Ledger, listener: UseListener) {
    this.#runtime = runtime
    this.#ledger = ledger
    this.#listener = listener
    const moved = ({ latest }: SentRequest, from: number): void => {
      if (latest > from) listener.changed()
    }
    this.arrivals = new Arrivals(runtime, moved, this.roundTrips)
    this.setPolicy(api)
  }

  setPolicy({ limits, accounting, unansweredGrace = defaultGrace }: RateLimiterOptions): void {
    this.#grace = unansweredGrace
    this.#isLearning = accounting === 'learned'
    this.arrivals.setPolicy(accounting, unansweredGrace, Math.max(0, ...limits.map(({ window }) => window)))
  }

  /** How much later than they are due units are used, in milliseconds: no request travels for longer than that beyond another. */
  get lead(): number {
    return Math.min(this.#grace, this.roundTrips.lead)
  }

  /**
   * For how long units gather, in milliseconds. With `accounting: 'learned'` the gap between two batches lies where one
   * window ends and the next begins, so a request that travels longer than others harms nothing.
   */
  get gather(): number {
    return this.#isLearning
      ? Math.min(this.arrivals.bound, shortestSpan(this.#ledger.policy) * longestGathering)
      : 0
  }

  /** Returns how many units beyond `granted` need no new connection; `Infinity` where a set-up costs nothing. */
  warm(granted: number): number {
    if (!this.#isSlow) return Infinity
    return this.arrivals.freeConnections(this.#runtime.now()) - granted
  }

  /** Returns for how long a process that would need a new connection lets others go first, in milliseconds. */
  patience(granted: number): number {
    return this.warm(granted) > 0 ? 0 : patienceOfGrace * this.#grace
  }

  /** Returns a permit for a unit that Redis granted. @param share the process's own unit that is used up with it, if any. */
  permit(batch: Batch, share?: Permit): Permit {
    const request = this.arrivals.send()
    const latest = this.#ledger.sent(batch, request)
    // where responses take too different times, Redis presumes less than is known when the last one is sent
    if (latest < batch.presumedAt) this.#listener.ended(latest - batch.presumedAt)
    let state: 'sent' | 'answered' | 'over' = 'sent'
    // `promised`: when it could have been promised that the request arrives, so that only other changes need a request
    const settle = (promised: number): void => {
      // when a unit of a share was due does not show how long units of Redis take
      if (share === undefined) this.responseTimes.add(promised - batch.dueAt, this.#runtime.now())
      this.#settle(batch, request.latest)
    }
    return {
      answered: (isRefused = false) => {
        share?.answered(isRefused)
        if (state !== 'sent') return
        state = 'answered'
        this.took = this.#runtime.now() - request.sentAt
        const notice = longestUnreported(this.#ledger.policy)
        settle(this.arrivals.answered(request, isRefused, notice))
      },
      ended: () => {
        share?.ended()
        if (state === 'answered') {
          this.arrivals.freed()
          if (this.#isSlow) this.#listener.changed()
        } else if (state === 'sent') {
          this.arrivals.dropped(request)
          settle(request.latest)
        }
        state = 'over'
      },
      cancel: () => {
        share?.cancel()
        if (state !== 'sent') return
        state = 'over'
        this.arrivals.dropped(request)
        this.#listener.unused(batch, 1)
      },
    }
  }

  /** Returns a permit for a unit of the process's own share, which is reported when Redis is reached again. */
  sharePermit(share: Permit): Permit {
    const now = this.#runtime.now()
    return this.permit(this.#ledger.open(1, now, now, Number.NEGATIVE_INFINITY), share)
  }

  /** Whether responses come too late to show when requests have arrived, on a new connection too. */
  get #isSlow(): boolean {
    return this.arrivals.lag > this.arrivals.bound / 2
  }

  #settle(batch: Batch, latest: number): void {
    this.#ledger.settle(batch, latest)
    // a unit that has come free already does not come free earlier
    const counted = Math.min(batch.presumedAt, this.#runtime.now() - shortestSpan(this.#ledger.policy))
    this.#listener.ended(Math.max(latest, counted) - batch.presumedAt)
  }
}
