/** What a request reports of how its sender reaches Redis. */
export interface ReachabilityReport {
  /** For how long the process had not reached Redis until it did, in milliseconds; 0 if Redis knows all of that time. */
  readonly alone: number
  /** Whether the process does not reach Redis, as far as it knows, and sends by its own share. */
  readonly away: boolean
}

/**
 * Whether this process reaches Redis.
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
  #state: 'together' | 'away' | 'returning' = 'together'
  #aloneSince = 0

  get isAway(): boolean {
    return this.#state === 'away'
  }

  /** Notes that Redis has not responded since `since`. */
  lose(since: number): void {
    if (this.#state === 'together') this.#aloneSince = since
    this.#state = 'away'
  }

  /** Returns what a request that leaves at `now` reports. */
  report(now: number): ReachabilityReport {
    const alone = this.#state === 'together' ? 0 : Math.max(1, now - this.#aloneSince)
    return { alone, away: this.isAway }
  }

  /**
   * Notes the response to a request that reported `away`. Returns `'outdated'` for a request that left before the
   * process knew that Redis does not respond.
   */
  responded({ away }: ReachabilityReport): 'found' | 'outdated' | 'as before' {
    if (this.#state === 'away') {
      if (!away) return 'outdated'
      this.#state = 'returning'
      return 'found'
    }
    if (!away) this.#state = 'together'
    return 'as before'
  }
}
