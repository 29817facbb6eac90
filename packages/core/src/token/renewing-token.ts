import { closedError, isTokenlaneError, type TokenlaneError } from '../errors.ts'
import type { Emit, RenewalReason } from '../events.ts'
import type { Grant, TokenSource, Wait } from '../issuer/token-source.ts'
import { betweenHalfAndWhole } from '../time/backoff.ts'
import { isRequestBound, requestKeeper } from '../time/request-bound.ts'
import { AccessToken } from './access-token.ts'
import { untilNextTry, firstRetry, RenewalBackoff, retryDelay, type Failure } from './renewal-backoff.ts'
import { reportFailure, reportToken } from './renewal-events.ts'
import { SingleFlight } from './single-flight.ts'

/** What governs the life of one issuer's token; times in milliseconds. */
export interface RenewalOptions {
  /** Name of the issuer. */
  readonly issuer: string
  /** The token endpoint's URL without a query, for events. */
  readonly endpoint: string
  /** `undefined`: a tenth of the lifetime, jittered. */
  readonly renewBefore: number | undefined
  readonly maxWait: number
  /** Whether the credentials can change at any time, so that a refused client may be accepted at the next try. */
  readonly credentialsMayChange: boolean
  readonly emit: Emit
}

/** A renewal that begins with a wait, after an earlier one failed. */
interface Retry {
  readonly delay: number
  readonly after: TokenlaneError
}

/** Calls wait for the renewal when the token has at most this left, or a fortieth of its lifetime if that is less. */
const longestFloor = 10_000

/** What a call needs of the token of one issuer. */
export type CurrentToken = Pick<RenewingToken, 'live' | 'wait' | 'isCurrent' | 'invalidate'>

/**
 * The life of one issuer's token: reused while fresh, renewed in the background while aging, waited for when
 * old, and never requested twice at the same time.
 *
 * Nothing runs without calls: a call looks at the token's age, so an idle process has no timer.
 */
export class RenewingToken {
  readonly #source: TokenSource
  readonly #options: RenewalOptions
  readonly #backoff = new RenewalBackoff()
  #token: AccessToken | undefined
  #grant: Grant | undefined
  #hadToken = false
  #rejected = false
  #rejectedAt = Number.NEGATIVE_INFINITY
  #flight: SingleFlight | undefined
  #closed = false

  constructor(source: TokenSource, options: RenewalOptions) {
    this.#source = source
    this.#options = options
  }

  /** Returns the token if it can be sent as it is; starts a background renewal when it is aging. */
  live(): AccessToken | undefined {
    const token = this.#token
    if (token === undefined) return undefined
    const age = AccessToken.age(token)
    if (age === 'fresh') return token
    if (age !== 'aging') return undefined
    this.#renewInBackground()
    return token
  }

  /**
   * Waits for a token that can be sent. Aborting `signal` ends this wait only.
   *
   * @throws TokenlaneError why there is no token, after `maxWait` at the latest; the signal's reason if it aborts.
   */
  async wait(signal: AbortSignal | undefined): Promise<AccessToken> {
    if (this.#flight?.isLost === true) this.#flight = undefined
    const failure = this.#flight === undefined ? this.#tooEarly() : undefined
    if (failure !== undefined) {
      const old = this.#unexpired()
      if (old !== undefined) return old
      const delay = untilNextTry(failure, this.#options.maxWait)
      if (delay === undefined) throw failure.error
      this.#flight = this.#start({ delay, after: failure.error })
    }
    const flight = (this.#flight ??= this.#start())
    try {
      return await flight.join(signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (flight.isLost) return this.wait(signal)
      // the old token serves while it lives
      return this.#unexpired() ?? raise(error)
    }
  }

  /** Whether calls get this token now. */
  isCurrent(token: AccessToken): boolean {
    return this.#token === token
  }

  /** Drops `token` if it is still the current one: a late 401 of an older token changes nothing. */
  invalidate(token: AccessToken): void {
    if (this.#token !== token) return
    this.#grant?.drop?.()
    this.#token = undefined
    this.#grant = undefined
    this.#rejected = true
    this.#rejectedAt = performance.now()
  }

  /** When a 401 last cost a token, on the monotonic clock. */
  get rejectedAt(): number {
    return this.#rejectedAt
  }

  /** How long a call waits for a token at most, in milliseconds. */
  get maxWait(): number {
    return this.#options.maxWait
  }

  status(): { token: 'none' | 'live' | 'expired'; expiresAt?: Date; lastError?: TokenlaneError['code'] } {
    const token = this.#token
    return {
      token: token === undefined ? 'none' : AccessToken.age(token) === 'expired' ? 'expired' : 'live',
      ...(token && { expiresAt: token.expiresAt }),
      ...(this.#backoff.last && { lastError: this.#backoff.last.error.code }),
    }
  }

  /** Whether no renewal is under way. */
  get isIdle(): boolean {
    return this.#flight === undefined
  }

  /** Starts no further try; ends when the request under way has ended. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#flight?.stop()
    await this.#source.idle?.()
  }

  /** The last failure, if it is too early for another try. */
  #tooEarly(): Failure | undefined {
    const failure = this.#backoff.current
    // a refused client may have a new secret by now: only the provider knows
    const worthAsking = failure?.error.code === 'TOKEN_REQUEST_REFUSED' && this.#options.credentialsMayChange
    return worthAsking ? undefined : failure
  }

  #unexpired(): AccessToken | undefined {
    const token = this.#token
    return token !== undefined && AccessToken.age(token) !== 'expired' ? token : undefined
  }

  #renewInBackground(): void {
    if (this.#flight?.isLost === true) this.#flight = undefined
    if (this.#flight !== undefined || this.#closed || this.#backoff.current !== undefined) return
    // it would end with the response to the present request
    if (isRequestBound() && requestKeeper() === undefined) return
    this.#flight = this.#start()
  }

  #start(retry?: Retry): SingleFlight {
    return new SingleFlight((flight) => this.#renew(flight, retry), this.#options.maxWait)
  }

  async #renew(flight: SingleFlight, retry: Retry | undefined): Promise<AccessToken> {
    const reason = this.#reason()
    const wait = this.#waitOf(flight)
    try {
      if (retry !== undefined) await this.#delay(flight, retry)
      for (let tries = 1; ; tries += 1) {
        try {
          return this.#use(await this.#source.obtain(reason, wait), reason, flight)
        } catch (error) {
          const delay = this.#nextDelay(error, tries, flight)
          if (delay === undefined) throw this.#failed(error, flight)
          this.#report(error as TokenlaneError, delay)
          await this.#delay(flight, { delay, after: error as TokenlaneError })
        }
      }
    } finally {
      if (this.#flight === flight) this.#flight = undefined
    }
  }

  /** Waits before the next try; throws the error of the one before if no call waits for the next one any more. */
  async #delay(flight: SingleFlight, { delay, after }: Retry): Promise<void> {
    await flight.delay(delay)
    if (flight.awaited && !this.#closed) return
    if (after !== this.#backoff.last?.error) this.#remember(after, flight)
    throw after
  }

  #reason(): RenewalReason {
    if (this.#rejected) return 'rejected'
    if (!this.#hadToken) return 'startup'
    const token = this.#token
    return token !== undefined && AccessToken.age(token) === 'aging' ? 'ahead' : 'expired'
  }

  #waitOf(flight: SingleFlight): Wait {
    const needed = (): boolean => flight.awaited && this.#unexpired() === undefined
    return {
      get timeLeft() {
        return flight.timeLeft
      },
      get needed() {
        return needed()
      },
      accepts: (grant) => {
        const age = AccessToken.age(this.#tokenOf(grant))
        return age === 'fresh' || (age === 'aging' && this.#unexpired() === undefined)
      },
      pause: async (ms, early) => {
        if (!this.#closed) await flight.delay(ms, early)
        if (this.#closed) throw closedError(`issuer "${this.#options.issuer}"`)
      },
    }
  }

  #use(grant: Grant, reason: RenewalReason, { joiners }: SingleFlight): AccessToken {
    const token = this.#tokenOf(grant)
    this.#token = token
    this.#grant = grant
    this.#hadToken = true
    this.#rejected = false
    this.#backoff.succeeded()
    reportToken(this.#options, grant, token.expiresAt, reason, joiners)
    return token
  }

  #tokenOf({ token, lifetime, expiry }: Grant): AccessToken {
    const { issuer, renewBefore = betweenHalfAndWhole(lifetime / 10) } = this.#options
    return new AccessToken(token, issuer, expiry, {
      // at most half of the lifetime, or a short token would be renewed on every call
      renewBefore: Math.min(renewBefore, lifetime / 2),
      // at most half of the smallest margin that is drawn, or some calls would wait for a renewal that could have
      // ended before they came
      floor: Math.min(longestFloor, lifetime / 40),
    })
  }

  /** Returns how long to wait before the same flight tries again; `undefined` if it must not. */
  #nextDelay(error: unknown, tries: number, flight: SingleFlight): number | undefined {
    if (!isTokenlaneError(error) || !flight.awaited || this.#closed) return undefined
    // waiting calls are better served with the old token now than with a new one later
    if (this.#unexpired() !== undefined) return undefined
    const delay = retryDelay(error, tries)
    if (delay === undefined) return undefined
    // a try with hardly any time left would only hide the reason behind a timeout
    return delay + firstRetry < flight.timeLeft ? delay : undefined
  }

  /** Remembers and reports the failure that ends a flight. */
  #failed(error: unknown, flight: SingleFlight): unknown {
    // a refusal that was only remembered is not another failure
    if (!isTokenlaneError(error) || error === this.#backoff.last?.error) return error
    this.#report(error, this.#remember(error, flight))
    return error
  }

  /** Remembers a flight's failure; returns how long it is too early for the next one, in milliseconds. */
  #remember(error: TokenlaneError, { awaited }: SingleFlight): number {
    const token = this.#unexpired()
    if (token !== undefined) return this.#backoff.failed(error, AccessToken.timeUntilOld(token))
    // calls that gave up early do not make the later ones fail at once
    return this.#backoff.failed(error, awaited ? undefined : 0)
  }

  #report(error: TokenlaneError, retryIn: number): void {
    reportFailure(this.#options, error, retryIn, this.#unexpired() !== undefined)
  }
}

function raise(error: unknown): never {
  throw error
}
