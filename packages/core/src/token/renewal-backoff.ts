import { isRefusal, refusalSpan } from '../credentials/refused-client.ts'
import type { TokenlaneError, TokenlaneErrorCode } from '../errors.ts'
import { isTooMuch } from '../issuer/busy-endpoint.ts'
import { backoff, betweenHalfAndWhole } from '../time/backoff.ts'

/** Retries that calls wait for: from 250 ms on, at most 2 s apart, so that a short outage loses no call. */
const firstRetry = 250
const ofTries = { first: firstRetry, most: 2_000 }
/** Retries in the background, and renewals after one that failed. */
const ofRenewals = { first: 1_000, most: 60_000 }
/** The longest distance between renewals while calls fail without a token, in milliseconds. */
const longestWithoutToken = 5_000
/** Longest `Retry-After` that is honoured, in ms. */
const longestRetryAfter = 300_000
/** The longest distance while calls fail without a token and the issuer may be busy or down, in milliseconds. */
const longestUnsaid = 30_000
/** When a fault that may pass by itself is tried once more, in ms. */
const soon = 2_000

/** The failed tries since the last success. */
export interface FailedTries {
  /** Code of the last one. */
  readonly lastError?: TokenlaneErrorCode
  /** When the first one was made, ISO 8601. */
  readonly failingSince?: string
  /** How many there are. */
  readonly failedTries?: number
}

/** Decides when an issuer may be asked again after renewals that failed, until one succeeds. */
export class RenewalBackoff {
  /** The last renewal, if it failed; another one is too early `until` a moment on the monotonic clock. */
  last: { readonly error: TokenlaneError; readonly until: number; readonly failFast: boolean } | undefined
  failing: FailedTries = {}
  /** The error of the last of them, why it failed in the words of the log, and how many before it did so too. */
  lastTry: { readonly error: TokenlaneError; readonly reason: string; readonly repeats: number } | undefined
  #failures = 0
  /** Busy responses in a row, also across renewals. */
  #busy = 0
  /** Failed tries that calls waited for, of an issuer that may be busy, since the last success. */
  #crowded = 0
  /** Failed renewals that calls waited for, since the last success. */
  #lost = 0

  /** The error of the last renewal, while it is too early for another one. */
  get tooEarly(): TokenlaneError | undefined {
    const { error, until = 0 } = this.last ?? {}
    return performance.now() < until ? error : undefined
  }

  /** For how long tries have failed, in milliseconds, and how many; `undefined` if none has. */
  get outage(): { duration: number; failedTries: number } | undefined {
    const { failingSince, failedTries = 0 } = this.failing
    if (failingSince === undefined) return undefined
    return { duration: Math.max(0, Date.now() - Date.parse(failingSince)), failedTries }
  }

  /**
   * Returns how long one renewal waits before its next try, in milliseconds; `undefined` if there must be none. Tries go on
   * while half a second is left: a pause that the issuer did not ask for is cut to what leaves 250 ms for the try.
   */
  retryDelay(error: TokenlaneError, tries: number, timeLeft: number): number | undefined {
    // a try with hardly any time left would only hide the reason behind a timeout
    const longest = timeLeft - firstRetry
    if (error.definite === true) {
      const isFirst = this.failing.failedTries === undefined
      const delay = betweenHalfAndWhole(soon)
      return isFirst && mayPass(error) && delay < longest ? delay : undefined
    }
    if (mayCrowd(error)) this.#crowded += 1
    const spacing = betweenHalfAndWhole(backoff(tries, ofTries))
    const delay = this.#heeding(error, this.#thinning(error, spacing))
    if (delay < longest) return delay
    const { busy, retryAfter = 0 } = error
    const isAskedOf = busy === true || retryAfter >= longest
    const isOver = isAskedOf || longest < firstRetry || this.#isThinned(error)
    return isOver ? undefined : longest
  }

  /** Whether many processes may ask at once. Only after calls gave up: at first, an issuer that restarts is likelier. */
  #isThinned(error: TokenlaneError): boolean {
    return this.#lost > 0 && mayCrowd(error)
  }

  #thinning(error: TokenlaneError, spacing: number): number {
    const isThinned = this.#isThinned(error) || (error.status !== undefined && mayCrowd(error))
    return isThinned
      ? Math.max(spacing, Math.random() * Math.min(longestUnsaid, thinned(this.#crowded)))
      : spacing
  }

  /** Returns the delay before the next try: the issuer's, else our own; from 250 ms to 5 minutes. */
  #heeding(error: TokenlaneError, spacing: number): number {
    const { retryAfter = 0, busy } = error
    const isNamed = isPause(retryAfter)
    // processes that got the same `Retry-After` must not come back together again and again
    const drawn = (refusals: number): number => Math.random() * thinned(isNamed ? refusals - 1 : refusals)
    if (busy === true)
      return Math.max(firstRetry, Math.min(longestRetryAfter, retryAfter + drawn(this.#busy)))
    if (error.retryAfter === undefined) return spacing
    if (!isNamed) return Math.max(spacing, firstRetry)
    const apart = mayCrowd(error) ? Math.min(longestUnsaid, drawn(this.#crowded)) : 0
    return Math.min(longestRetryAfter, retryAfter + apart)
  }

  /** Called for each failed try, before it is decided what follows. */
  tried(error: TokenlaneError): void {
    if (error.busy === true) this.#busy += 1
  }

  /** Counts a failed try; returns how many before it failed for the same reason. */
  tryFailed(error: TokenlaneError, reason: string): number {
    const { failingSince = new Date().toISOString(), failedTries = 0 } = this.failing
    this.failing = { failingSince, failedTries: failedTries + 1, lastError: error.code }
    const repeats = reason === this.lastTry?.reason ? this.lastTry.repeats + 1 : 0
    this.lastTry = { error, reason, repeats }
    return repeats
  }

  /**
   * @param neededIn when calls will need the next renewal, in milliseconds from now; `undefined` if they have just
   * waited for this one as long as they may.
   * @returns how long it is too early for another renewal, in milliseconds.
   */
  failed(error: TokenlaneError, neededIn: number | undefined): number {
    this.#failures += 1
    const drawn = Math.random() * backoff(this.#failures, ofRenewals)
    // before calls need the token, unless the issuer asks for more
    const latest = neededIn ?? betweenHalfAndWhole(longestWithoutToken)
    const own = Math.max(firstRetry, Math.min(drawn, latest))
    if (neededIn === undefined) this.#lost += 1
    const spacing = neededIn === undefined ? this.#thinning(error, own) : own
    const pause = isFinal(error) ? refusalSpan(error) : this.#heeding(error, spacing)
    const failFast = error.definite === true || (neededIn === undefined && !isAsked(error))
    this.last = { error, until: performance.now() + pause, failFast }
    return pause
  }

  /**
   * Returns how long a call without a live token, which may wait for `maxWait` milliseconds, waits until the issuer is
   * asked again, in milliseconds; `undefined` if it fails at once with the error of the last renewal.
   */
  untilNextTry(maxWait: number): number | undefined {
    if (this.last === undefined) return 0
    const { error, until, failFast } = this.last
    if (failFast) return undefined
    const delay = until - performance.now()
    if (delay + firstRetry < maxWait) return delay
    // what the issuer asked for is heeded; our own spacing of background renewals costs no call
    return isAsked(error) ? undefined : 0
  }
}

/** Whether the issuer may be busy without saying so. */
const mayCrowd = (error: TokenlaneError): boolean => error.busy !== true && isTooMuch(error)

/** Whether the issuer decides when to try again: 0, or a date in the past, only says that this outage is short. */
function isAsked({ retryAfter = 0, busy }: TokenlaneError): boolean {
  return busy === true || isPause(retryAfter)
}

const isPause = (retryAfter: number): boolean => retryAfter >= firstRetry

/**
 * Returns the longest wait after this many busy responses in a row, in milliseconds: doubled at first, then 3 s more each
 * time. So 20 processes fit one request a second, and 100 do in the end.
 */
function thinned(refusals: number): number {
  return refusals < 1 ? 0 : Math.min(700 * 2 ** (refusals - 1), 6_000 + 3_000 * refusals)
}

/** Whether what the issuer said holds for a while: each try would cost a request, or a token that is thrown away. */
function isFinal(error: TokenlaneError): boolean {
  const { code, definite } = error
  return isRefusal(error) || (definite === true && code === 'TOKEN_RESPONSE_INVALID')
}

/** Whether a proxy in front of an issuer that is starting may have responded. */
function mayPass({ code, status }: TokenlaneError): boolean {
  return code === 'TOKEN_REQUEST_FAILED' && status !== undefined
}
