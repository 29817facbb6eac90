/** What a message says of how its sender reaches Redis. */
export interface ContactWord {
  /** For how long the process had not reached Redis until it did, in milliseconds; 0 if Redis knows all of that time. */
  readonly alone: number
  /** Whether the process does not reach Redis, as far as it knows, and sends by its own share. */
  readonly away: boolean
}

/**
 * Whether this process reaches Redis.
 *
 * | state       | what it means                                              | what ends it                                    |
 * | ----------- | ---------------------------------------------------------- | ----------------------------------------------- |
 * | `together`  | Redis answers                                              | Redis is silent: `away`                         |
 * | `away`      | Redis is silent                                            | Redis answers what was said since: `returning`  |
 * | `returning` | Redis answers, and does not know what was sent since it    | Redis answers a message that says so: `together`|
 * |             | was told last                                              | Redis is silent: `away`                         |
 */
export class Contact {
  #state: 'together' | 'away' | 'returning' = 'together'
  #aloneSince = 0

  get isAway(): boolean {
    return this.#state === 'away'
  }

  /** Redis has been silent since `since`. */
  lose(since: number): void {
    if (this.#state === 'together') this.#aloneSince = since
    this.#state = 'away'
  }

  /** Returns what a message that leaves at `now` says. */
  say(now: number): ContactWord {
    const alone = this.#state === 'together' ? 0 : Math.max(1, now - this.#aloneSince)
    return { alone, away: this.isAway }
  }

  /** Redis answered a message: returns `'outdated'` if that left before the process knew that Redis was silent. */
  hear({ away }: ContactWord): 'found' | 'outdated' | 'as before' {
    if (this.#state === 'away') {
      if (!away) return 'outdated'
      this.#state = 'returning'
      return 'found'
    }
    if (!away) this.#state = 'together'
    return 'as before'
  }
}
