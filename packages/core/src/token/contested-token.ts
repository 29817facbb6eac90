import type { Emit } from '../events.ts'

/** How many tokens must end so within a minute to be reported. */
const suspicious = 8
const minute = 60_000

/**
 * Notices that something else ends the tokens of one issuer, again and again: each was accepted, and refused within a
 * second after it was requested. So it is if the issuer keeps one live token for each client, and several processes
 * request their own.
 */
export class ContestedToken {
  readonly #issuer: string
  readonly #emit: Emit
  /** When the last tokens ended, on the monotonic clock: at most as many as are suspicious. */
  #endedAt: readonly number[] = []

  constructor(issuer: string, emit: Emit) {
    this.#issuer = issuer
    this.#emit = emit
  }

  /** Whether it happened often in the last minute. */
  get isContested(): boolean {
    const since = performance.now() - minute
    return this.#endedAt.filter((at) => at > since).length === suspicious
  }

  /** Notes that an API refused a token that it had accepted, before another renewal was due. */
  ended(api: string): void {
    const wasContested = this.isContested
    this.#endedAt = [...this.#endedAt, performance.now()].slice(-suspicious)
    if (!wasContested && this.isContested)
      this.#emit?.({ type: 'token.contested', issuer: this.#issuer, api })
  }

  /** Notes that an API refuses good tokens, which explains it as well. */
  disproved(): void {
    this.#endedAt = []
  }
}
