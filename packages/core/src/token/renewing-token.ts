import { AccessToken } from './access-token.ts'
import { betweenHalfAndWhole } from '../time/backoff.ts'
import { requestToken, type TokenAnswer, type TokenEndpoint } from '../issuer/client-credentials.ts'
import { isTokenlaneError, TokenlaneError } from '../errors.ts'
import type { Emit, RenewalReason } from '../events.ts'
import { Expiry, moment } from './expiry.ts'
import { Flight } from './single-flight.ts'
import { closedError } from '../send/calls-under-way.ts'
import { firstRetry, pauseAfter, RenewalSpacing } from './renewal-backoff.ts'
import type { RotatingCredentials } from '../credentials/credential-rotation.ts'
import type { Errand, SharedToken } from '../store/shared-token.ts'
import { StepTimeout } from '../time/timers.ts'
import type { StoredToken } from '../store/token-seal.ts'

/** What the life of one issuer's token is governed by; times in milliseconds. */
export interface RenewalOptions {
  readonly endpoint: TokenEndpoint
  readonly credentials: RotatingCredentials
  /** `undefined`: this process asks for itself. */
  readonly shared: SharedToken | undefined
  /** `undefined`: a tenth of the lifetime, jittered. */
  readonly renewBefore: number | undefined
  readonly requestTimeout: number
  readonly maxWait: number
  readonly emit: Emit
}

/** With no more than this left, or than a fortieth of the lifetime if that is less, calls wait for the renewal. */
const longestFloor = 10_000

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
  readonly #spacing = new RenewalSpacing()
  #closed = false

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
    if (this.#flight === undefined) {
      const failure = this.#tooEarly()
      const old = failure && this.#unexpired()
      if (old !== undefined) return old
      if (failure?.failFast === true) throw failure.error
    }
    this.#flight ??= this.#takeOff()
    try {
      return await this.#flight.join(signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      // the old token serves while it lives
      return this.#unexpired() ?? raise(error)
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
    this.#options.shared?.drop()
  }

  status(): { token: 'none' | 'live' | 'expired'; expiresAt?: Date; lastError?: TokenlaneError['code'] } {
    const token = this.#current
    return {
      token: token === undefined ? 'none' : AccessToken.age(token) === 'expired' ? 'expired' : 'live',
      ...(token && { expiresAt: token.expiresAt }),
      ...(this.#spacing.last && { lastError: this.#spacing.last.error.code }),
    }
  }

  /** No further tries; ends when the request under way has ended. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#flight?.cutShort()
    await this.#options.shared?.idle()
  }

  /** The last failure, if it says that it is too early for another try. */
  #tooEarly(): RenewalSpacing['current'] {
    const failure = this.#spacing.current
    // who was refused may have a new secret by now: only the provider knows
    const worthAsking = failure?.error.code === 'TOKEN_REQUEST_REFUSED' && this.#options.credentials.mayChange
    return worthAsking ? undefined : failure
  }

  #unexpired(): AccessToken | undefined {
    const token = this.#current
    return token !== undefined && AccessToken.age(token) !== 'expired' ? token : undefined
  }

  #renewAhead(): void {
    if (this.#flight !== undefined || this.#closed || this.#spacing.current !== undefined) return
    this.#flight = this.#takeOff()
  }

  #takeOff(): Flight {
    return new Flight((flight) => this.#fly(flight), this.#options.maxWait)
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
          await flight.rest(pause)
          if (!flight.awaited || this.#closed) throw this.#fail(error, flight)
        }
      }
    } finally {
      this.#flight = undefined
    }
  }

  #reason(): RenewalReason {
    if (this.#rejected) return 'rejected'
    if (!this.#everHad) return 'startup'
    const token = this.#current
    return token !== undefined && AccessToken.age(token) === 'aging' ? 'ahead' : 'expired'
  }

  /** One try: what another process obtained, else a token request. */
  async #renew(flight: Flight, reason: RenewalReason): Promise<AccessToken> {
    const { endpoint, shared, emit } = this.#options
    const timer = new StepTimeout(() => this.#requestTime(flight))
    let errand: Errand | undefined
    try {
      if (shared !== undefined) {
        const taken = await this.#take(shared, flight, timer)
        if ('token' in taken) return this.#receive(taken.token)
        errand = taken.errand
      }
      const start = moment()
      const answer = await this.#request(timer)
      const expiry = Expiry.of(answer.lifetime, start)
      const token = new AccessToken(answer.token, endpoint.issuer, expiry, this.#margins(answer.lifetime))
      // a slow answer to a short token, or one that was read after the machine slept
      if (AccessToken.age(token) === 'expired') throw tooLate(endpoint)
      await errand?.succeeded({ ...answer, expiresAt: start.wall + answer.lifetime })
      this.#use(token)
      emit?.({
        type: 'token.renewed',
        issuer: endpoint.issuer,
        expiresAt: token.expiresAt,
        duration: performance.now() - start.monotonic,
        reason,
        joiners: flight.joiners,
      })
      return token
    } catch (error) {
      errand?.failed(error)
      throw error
    } finally {
      timer.clear()
    }
  }

  #use(token: AccessToken): void {
    this.#current = token
    this.#everHad = true
    this.#rejected = false
    this.#spacing.succeeded()
  }

  /** Waits for a token that another process obtained, or for our turn to ask. */
  async #take(
    shared: SharedToken,
    flight: Flight,
    timer: StepTimeout,
  ): Promise<{ token: AccessToken } | { errand: Errand }> {
    const { credentials, requestTimeout } = this.#options
    const client = await credentials.first(this.#everHad ? 'renewal' : 'startup', timer.signal())
    timer.clear()
    // time for a process that died, and for its successor
    const giveUpAt = performance.now() + 2 * requestTimeout
    return shared.take(
      client,
      (stored, expiresIn) => this.#usable(stored, expiresIn),
      (ms) => this.#pauseForOther(flight, giveUpAt, ms),
    )
  }

  /** What is kept for all as a token of ours, unless we are better off with a new one. */
  #usable({ token: value, expiresAt, lifetime }: StoredToken, expiresIn = lifetime): AccessToken | undefined {
    // our clock and that of the process which wrote it may differ: no token has more left than it ever had
    const left = Math.min(expiresAt - Date.now(), expiresIn, lifetime)
    const { issuer } = this.#options.endpoint
    const token = new AccessToken(value, issuer, Expiry.of(left, moment()), this.#margins(lifetime))
    const age = AccessToken.age(token)
    return age === 'fresh' || (age === 'aging' && this.#unexpired() === undefined) ? token : undefined
  }

  #receive(token: AccessToken): AccessToken {
    const { endpoint, emit } = this.#options
    this.#use(token)
    emit?.({ type: 'token.received', issuer: endpoint.issuer, expiresAt: token.expiresAt })
    return token
  }

  async #pauseForOther(flight: Flight, giveUpAt: number, ms: number): Promise<void> {
    const { endpoint } = this.#options
    // who has a token that serves need not wait as long as who has none
    const needed = flight.awaited && this.#unexpired() === undefined
    const left = needed ? flight.timeLeft : giveUpAt - performance.now()
    if (ms >= left) throw othersTooSlow(endpoint)
    if (!this.#closed) await flight.rest(ms)
    if (this.#closed) throw closedError(`issuer "${endpoint.issuer}"`)
  }

  #request(timer: StepTimeout): Promise<TokenAnswer> {
    const { endpoint, credentials } = this.#options
    return credentials.use(
      (client) => requestToken(endpoint, client, timer.signal()),
      this.#everHad ? 'renewal' : 'startup',
      () => timer.signal(),
    )
  }

  #requestTime({ timeLeft }: Flight): number {
    return Math.min(this.#options.requestTimeout, Math.max(1, timeLeft))
  }

  #margins(lifetime: number): { renewBefore: number; floor: number } {
    const { renewBefore = betweenHalfAndWhole(lifetime / 10) } = this.#options
    // at most half of the lifetime, or a short token would be renewed on every call
    // and the floor at most half of the least margin that is drawn, or some calls would wait for what could
    // have been renewed ahead of them
    return { renewBefore: Math.min(renewBefore, lifetime / 2), floor: Math.min(longestFloor, lifetime / 40) }
  }

  /** How long to wait before the same flight tries again; `undefined` if it shall not. */
  #pauseAfter(error: unknown, tries: number, flight: Flight): number | undefined {
    if (!isTokenlaneError(error) || !flight.awaited || this.#closed) return undefined
    // those who wait are better served with the old token now than with a new one later
    if (this.#unexpired() !== undefined) return undefined
    const pause = pauseAfter(error, tries)
    if (pause === undefined) return undefined
    // a try with hardly any time left would only hide the reason behind a timeout
    return pause + firstRetry < flight.timeLeft ? pause : undefined
  }

  /** Remembers a flight's failure, so that what comes next is spaced. */
  #fail(error: unknown, flight: Flight): unknown {
    // a refusal that was only remembered is no further failure
    if (!isTokenlaneError(error) || error === this.#spacing.last?.error) return error
    const inVain = flight.joiners > 0 && this.#unexpired() === undefined
    this.#tell(error, this.#spacing.failed(error, inVain))
    return error
  }

  #tell({ code }: TokenlaneError, retryIn: number): void {
    const { emit, endpoint } = this.#options
    const tokenStillValid = this.#unexpired() !== undefined
    emit?.({ type: 'renewal.failed', issuer: endpoint.issuer, code, retryIn, tokenStillValid })
  }
}

function tooLate({ issuer, url }: TokenEndpoint): TokenlaneError {
  return new TokenlaneError(
    'TOKEN_REQUEST_TIMEOUT',
    `Cannot obtain token: issuer "${issuer}" (${url.origin}) answered after the token's lifetime`,
    { issuer },
  )
}

function othersTooSlow({ issuer, url }: TokenEndpoint): TokenlaneError {
  return new TokenlaneError(
    'TOKEN_REQUEST_TIMEOUT',
    `Cannot obtain token: issuer "${issuer}" (${url.origin}) has not answered the process that asks for all`,
    { issuer },
  )
}

function raise(error: unknown): never {
  throw error
}
