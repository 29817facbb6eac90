import { abortable } from './abortable.ts'
import { AccessToken } from './access-token.ts'
import { backoff, betweenHalfAndWhole } from './backoff.ts'
import { requestToken, type TokenEndpoint } from './client-credentials.ts'
import { TokenlaneError, isTokenlaneError } from './errors.ts'
import type { Emit, RenewalReason } from './events.ts'
import { Expiry, moment } from './expiry.ts'
import { refusalMemory, type RotatingCredentials } from './rotating-credentials.ts'

/** What the life of one issuer's token is governed by; times in milliseconds. */
export interface RenewalOptions {
  readonly endpoint: TokenEndpoint
  readonly credentials: RotatingCredentials
  /** `undefined`: a tenth of the lifetime, jittered. */
  readonly renewBefore: number | undefined
  readonly requestTimeout: number
  readonly maxWait: number
  readonly emit: Emit
}

/** Tries that are awaited: from 250 ms on, at most 2 s apart, so that a short outage ends in time for them. */
const firstRetry = 250
const longestRetry = 2_000
/** Tries that nobody waits for, and flights after one that failed. */
const firstSpacing = 1_000
const longestSpacing = 60_000
/** A server's Retry-After is heeded up to here. */
const longestRetryAfter = 300_000

/** One renewal under way, which every call that needs it shares. */
interface Flight {
  readonly promise: Promise<AccessToken>
  /** Calls that wait now. */
  waiting: number
  /** Calls that ever waited. */
  joiners: number
  /** When the first of them gives up, on the monotonic clock. */
  deadline: number
}

/** What is known of the last renewal if it failed; `until` is on the monotonic clock. */
interface Failure {
  readonly error: TokenlaneError
  readonly until: number
  /** Whether calls without a live token fail at once until then, rather than ask again. */
  readonly failFast: boolean
}

/**
 * The life of one issuer's token: reused while fresh, renewed in the background while aging, waited for when
 * old, and never asked for twice at the same time.
 *
 * Nothing runs while nobody calls: ages are looked at when a call asks, so an idle process has no timer.
 */
export class RenewingToken {
  readonly #options: RenewalOptions
  #current: AccessToken | undefined
  #everHad = false
  #rejected = false
  #flight: Flight | undefined
  #failure: Failure | undefined
  #failures = 0
  #closed = false
  /** Ends the pause between two tries. */
  #endPause: (() => void) | undefined

  constructor(options: RenewalOptions) {
    this.#options = options
  }

  /** The token if it can be sent as it is; starts a renewal in the background when it is aging. */
  live(): AccessToken | undefined {
    const token = this.#current
    if (token === undefined) return undefined
    const age = AccessToken.age(token)
    if (age === 'fresh') return token
    if (age !== 'aging') return undefined
    this.#renewAhead()
    return token
  }

  /**
   * Waits for a token that can be sent. Aborting `signal` ends this wait only.
   *
   * @throws TokenlaneError why there is none, after `maxWait` at the latest; the signal's reason if it aborts.
   */
  async wait(signal: AbortSignal | undefined): Promise<AccessToken> {
    const failure = this.#failure
    const held = failure?.failFast === true && performance.now() < failure.until
    // who was refused may have a new secret by now: only the provider knows
    const worthAsking = failure?.error.code === 'TOKEN_REQUEST_REFUSED' && this.#options.credentials.mayChange
    if (held && !worthAsking && this.#flight === undefined) return this.#unexpired() ?? raise(failure.error)
    const flight = (this.#flight ??= this.#takeOff())
    if (flight.waiting === 0) flight.deadline = performance.now() + this.#options.maxWait
    flight.waiting += 1
    flight.joiners += 1
    try {
      return await abortable(flight.promise, signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      // the old token serves while it lives
      return this.#unexpired() ?? raise(error)
    } finally {
      flight.waiting -= 1
    }
  }

  /** Whether this is the token that calls are given now. */
  isCurrent(token: AccessToken): boolean {
    return this.#current === token
  }

  /** Drops `token` if it is still the current one: a late 401 of an older token changes nothing. */
  invalidate(token: AccessToken): void {
    if (this.#current !== token) return
    this.#current = undefined
    this.#rejected = true
  }

  status(): { token: 'none' | 'live' | 'expired'; expiresAt?: Date; lastError?: TokenlaneError['code'] } {
    const token = this.#current
    return {
      token: token === undefined ? 'none' : AccessToken.age(token) === 'expired' ? 'expired' : 'live',
      ...(token && { expiresAt: token.expiresAt }),
      ...(this.#failure && { lastError: this.#failure.error.code }),
    }
  }

  /** No further tries; ends when the request under way has ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#endPause?.()
    await this.#flight?.promise.catch(() => {})
  }

  #unexpired(): AccessToken | undefined {
    const token = this.#current
    return token !== undefined && AccessToken.age(token) !== 'expired' ? token : undefined
  }

  #renewAhead(): void {
    if (this.#flight !== undefined || this.#closed) return
    if (this.#failure !== undefined && performance.now() < this.#failure.until) return
    this.#flight = this.#takeOff()
  }

  #takeOff(): Flight {
    const flight: Flight = {
      // a turn later, so that `flight` is there when it begins
      promise: Promise.resolve().then(() => this.#fly(flight)),
      waiting: 0,
      joiners: 0,
      deadline: Number.POSITIVE_INFINITY,
    }
    // a renewal that nobody waits for may fail without anybody to tell but the observers
    flight.promise.catch(() => {})
    return flight
  }

  async #fly(flight: Flight): Promise<AccessToken> {
    const reason = this.#reason()
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          return await this.#renew(flight, reason)
        } catch (error) {
          const pause = this.#pauseAfter(error, tries, flight)
          if (pause === undefined) throw this.#fail(error, flight)
          this.#tell(error as TokenlaneError, pause)
          await this.#pause(pause)
          if (flight.waiting === 0 || this.#closed) throw this.#fail(error, flight)
        }
      }
    } finally {
      this.#flight = undefined
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #reason(): RenewalReason {
    if (this.#rejected) return 'rejected'
    if (!this.#everHad) return 'startup'
    const token = this.#current
    return token !== undefined && AccessToken.age(token) === 'aging' ? 'ahead' : 'expired'
  }

  /** One token request, with each of the credentials that may be worth a try. */
  async #renew(flight: Flight, reason: RenewalReason): Promise<AccessToken> {
    const { endpoint, credentials, emit } = this.#options
    const start = moment()
    const timer = new Timeout(() => this.#requestTime(flight))
    try {
      const answer = await credentials.use(
        (client) => requestToken(endpoint, client, timer.signal()),
        this.#everHad ? 'renewal' : 'startup',
        () => timer.signal(),
      )
      const expiry = Expiry.of(answer.lifetime, start)
      const token = new AccessToken(answer.token, endpoint.issuer, expiry, this.#margins(answer.lifetime))
      // a slow answer to a short token, or one that was read after the machine slept
      if (AccessToken.age(token) === 'expired') throw tooLate(endpoint)
      this.#current = token
      this.#everHad = true
      this.#rejected = false
      this.#failure = undefined
      this.#failures = 0
      emit?.({
        type: 'token.renewed',
        issuer: endpoint.issuer,
        expiresAt: token.expiresAt,
        duration: performance.now() - start.monotonic,
        reason,
        joiners: flight.joiners,
      })
      return token
    } finally {
      timer.clear()
    }
  }

  #requestTime({ deadline }: Flight): number {
    return Math.min(this.#options.requestTimeout, Math.max(1, deadline - performance.now()))
  }

  #margins(lifetime: number): { renewBefore: number; floor: number } {
    const { renewBefore = betweenHalfAndWhole(lifetime / 10) } = this.#options
    // at most half of the lifetime, or a short token would be renewed on every call
    return { renewBefore: Math.min(renewBefore, lifetime / 2), floor: Math.min(10_000, lifetime / 20) }
  }

  /** How long to wait before the same flight tries again; `undefined` if it shall not. */
  #pauseAfter(error: unknown, tries: number, flight: Flight): number | undefined {
    if (!isTokenlaneError(error) || error.code === 'TOKEN_REQUEST_REFUSED') return undefined
    if (flight.waiting === 0 || this.#closed) return undefined
    const pause = spacingAfter(error, backoff(tries, firstRetry, longestRetry))
    // a try with hardly any time left would only hide the reason behind a timeout
    return performance.now() + pause + firstRetry < flight.deadline ? pause : undefined
  }

  /** Remembers a flight's failure, so that what comes next is spaced. */
  #fail(error: unknown, flight: Flight): unknown {
    // a refusal that was only remembered is no further failure
    if (!isTokenlaneError(error) || error === this.#failure?.error) return error
    const refused = error.code === 'TOKEN_REQUEST_REFUSED'
    this.#failures += 1
    const spacing = refused
      ? refusalMemory
      : spacingAfter(error, backoff(this.#failures, firstSpacing, longestSpacing))
    this.#failure = {
      error,
      until: performance.now() + spacing,
      failFast: refused || flight.joiners > 0 || error.retryAfter !== undefined,
    }
    this.#tell(error, spacing)
    return error
  }

  #tell({ code }: TokenlaneError, retryIn: number): void {
    const { emit, endpoint } = this.#options
    const tokenStillValid = this.#unexpired() !== undefined
    emit?.({ type: 'renewal.failed', issuer: endpoint.issuer, code, retryIn, tokenStillValid })
  }
}

/** What the server asks for goes before our own spacing; it may not ask for none, nor for ever. */
function spacingAfter({ retryAfter }: TokenlaneError, spacing: number): number {
  if (retryAfter === undefined) return spacing
  // who asks for none, again and again, must not be asked four times a second
  if (retryAfter < firstRetry) return Math.max(firstRetry, spacing)
  return Math.min(retryAfter, longestRetryAfter)
}

/** One time span per request, with a signal for each. */
class Timeout {
  readonly #span: () => number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(span: () => number) {
    this.#span = span
  }

  /** A signal for the next step; ends the one before. */
  signal(): AbortSignal {
    this.clear()
    const controller = new AbortController()
    this.#timer = setTimeout(
      () => controller.abort(new DOMException('The time is over', 'TimeoutError')),
      this.#span(),
    )
    return controller.signal
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}

function tooLate({ issuer, url }: TokenEndpoint): TokenlaneError {
  return new TokenlaneError(
    'TOKEN_REQUEST_TIMEOUT',
    `Cannot obtain token: issuer "${issuer}" (${url.origin}) answered after the token's lifetime`,
    { issuer },
  )
}

function raise(error: unknown): never {
  throw error
}
