import { backoff, fullJitter } from '../time/backoff.ts'
import type { TokenlaneError } from '../errors.ts'
import { refusalMemory } from '../credentials/credential-rotation.ts'

/** Tries that are awaited: from 250 ms on, at most 2 s apart, so that a short outage ends in time for them. */
export const firstRetry = 250
const longestRetry = 2_000
/** Tries that nobody waits for, and renewals after one that failed. */
const firstSpacing = 1_000
const longestSpacing = 60_000
/** A server's Retry-After is heeded up to here. */
const longestRetryAfter = 300_000

/** What is known of the last renewal if it failed; `until` is on the monotonic clock. */
interface Failure {
  readonly error: TokenlaneError
  readonly until: number
  /** Whether calls without a live token fail at once until then, rather than ask again. */
  readonly failFast: boolean
}

/** When it is too early to ask one issuer again. */
export class RenewalSpacing {
  #last: Failure | undefined
  #failures = 0

  /** The last renewal, if it failed. */
  get last(): Failure | undefined {
    return this.#last
  }

  /** The same, while it is too early for another. */
  get current(): Failure | undefined {
    return this.#last !== undefined && performance.now() < this.#last.until ? this.#last : undefined
  }

  succeeded(): void {
    this.#last = undefined
    this.#failures = 0
  }

  /**
   * Remembers a renewal that failed.
   *
   * @param inVain whether calls have just waited for it for as long as they may, and have nothing to show for it.
   * @returns how long it is too early for another, in milliseconds.
   */
  failed(error: TokenlaneError, inVain: boolean): number {
    this.#failures += 1
    const spacing =
      error.code === 'TOKEN_REQUEST_REFUSED'
        ? refusalMemory
        : spacingAfter(error, Math.max(firstRetry, fullJitter(this.#failures, firstSpacing, longestSpacing)))
    this.#last = {
      error,
      until: performance.now() + spacing,
      failFast: isPermanent(error) || error.retryAfter !== undefined || inVain,
    }
    return spacing
  }
}

/** How long to wait within one renewal before its next try, in milliseconds; `undefined` if that is of no use. */
export function pauseAfter(error: TokenlaneError, tries: number): number | undefined {
  return isPermanent(error) ? undefined : spacingAfter(error, backoff(tries, firstRetry, longestRetry))
}

/** What the server asks for goes before our own spacing; it may not ask for none, nor for ever. */
function spacingAfter({ retryAfter }: TokenlaneError, spacing: number): number {
  if (retryAfter === undefined) return spacing
  // 0, or a date that is past: no more than a hint that this outage is short
  if (retryAfter < firstRetry) return Math.max(spacing, firstRetry)
  return Math.min(retryAfter, longestRetryAfter)
}

/** Whether another try would only hear the same. */
function isPermanent({ code }: TokenlaneError): boolean {
  return code === 'TOKEN_REQUEST_REFUSED' || code === 'INSECURE_TRANSPORT'
}
