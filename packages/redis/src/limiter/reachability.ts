/** What a request reports of how its sender reaches Redis. */
export interface ReachabilityReport {
  /** For how long the process had not reached Redis until it did, in milliseconds; 0 if Redis knows all of that time. */
  readonly alone: number
  /** Whether the process does not reach Redis, as far as it knows, and sends by its own share. */
  readonly isAway: boolean
  /** Whether Redis has refused the process since it last responded. */
  readonly isRefused: boolean
}

/** For how long Redis must refuse a process before that process takes it to be gone for all, in milliseconds. */
export const shortestOutage = 1_000
/**
 * By how much longer than `reconnectTime` a process sends nothing, as a part of it: an outage that is just long
 * enough for Redis to wait for the others takes ioredis 7.3 s with the default of 6 s.
 */
const beforeFallback = 0.25

/** Codes of refused and reset connections, what a Cluster of ioredis says of them, and replies that every process gets. */
const refusesAll = /^(?:ECONNREFUSED|ECONNRESET|ENOENT|Connection is closed|OOM|LOADING|MISCONF)\b/

/**
 * Whether this process reaches Redis, and whether no process does: a server that is gone refuses connections, and one
 * without memory refuses commands. One that says nothing may serve others.
 *
 * | state       | what it means                                                 | what ends it                                      |
 * | ----------- | ------------------------------------------------------------- | ------------------------------------------------- |
 * | `together`  | Redis responds                                                | Redis does not respond in time: `away`            |
 * | `away`      | Redis does not respond                                        | a response to a request that was sent since:      |
 * |             |                                                               | `returning`                                       |
 * | `returning` | Redis responds, and does not know what the process sent since | a response to a request that reports it:          |
 * |             | its last request                                              | `together`; no response in time: `away`           |
 */
export class Reachability {
  readonly #reconnectTime: number
  #state: 'together' | 'away' | 'returning' = 'together'
  #aloneSince = 0
  #refusedSince = Infinity
  #lastRefusal = Number.NEGATIVE_INFINITY

  constructor(reconnectTime: number) {
    this.#reconnectTime = reconnectTime
  }

  get isAway(): boolean {
    return this.#state === 'away'
  }

  get isTogether(): boolean {
    return this.#state === 'together'
  }

  lose(since: number): void {
    if (this.#state === 'together') this.#aloneSince = since
    this.#state = 'away'
  }

  /** Takes an error of a command or a connection. Refusals further apart than `reconnectTime` are of different outages. */
  failed(error: unknown, now: number): void {
    if (!isRefusal(error)) return
    if (!this.isRefused(now)) this.#refusedSince = now
    this.#lastRefusal = now
  }

  isRefused(now: number): boolean {
    return now - this.#lastRefusal <= this.#reconnectTime
  }

  /** Returns for how long Redis has been gone for all, in milliseconds; `-Infinity` where that is not known. */
  goneFor(now: number): number {
    const isKnown = this.isRefused(now) && this.#lastRefusal - this.#refusedSince >= shortestOutage
    return isKnown ? now - this.#refusedSince : Number.NEGATIVE_INFINITY
  }

  /**
   * Returns for how long this process sends nothing before it sends its share: until all that Redis granted to others is
   * out of the window. Where it is not known that Redis is gone for all, long enough for a slow response and for a client
   * that connects again.
   */
  silence(lifetime: number, now: number): number {
    const goneFor = this.goneFor(now)
    if (goneFor >= 0) return Math.max(0, lifetime - goneFor)
    return Math.max(lifetime, this.#reconnectTime * (1 + beforeFallback))
  }

  report(now: number): ReachabilityReport {
    const alone = this.#state === 'together' ? 0 : Math.max(1, now - this.#aloneSince)
    return { alone, isAway: this.isAway, isRefused: this.isRefused(now) }
  }

  /**
   * Notes the response to a request that reported `away`. Returns `'outdated'` for a request that left before the
   * process knew that Redis does not respond.
   */
  responded({ isAway }: ReachabilityReport): 'returning' | 'back' | 'outdated' | 'as before' {
    this.#lastRefusal = Number.NEGATIVE_INFINITY
    if (this.#state === 'away') {
      if (!isAway) return 'outdated'
      this.#state = 'returning'
      return 'returning'
    }
    if (isAway || this.#state === 'together') return 'as before'
    this.#state = 'together'
    return 'back'
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, cause, message } = error as Error & { readonly code?: unknown }
  return refusesAll.test(typeof code === 'string' ? code : message) || isRefusal(cause)
}
