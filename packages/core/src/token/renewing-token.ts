import type { TokenlaneError } from '../errors.ts'
import { defined } from '../events.ts'
import type { TokenSource } from '../issuer/token-source.ts'
import { AccessToken } from './access-token.ts'
import { HeldToken, type TokenOptions } from './held-token.ts'
import { renew, type Renewed, type Retry } from './renewal.ts'
import { type Failure, RenewalBackoff, untilNextTry } from './renewal-backoff.ts'
import { type Flights, SingleFlight } from './single-flight.ts'

/** What governs the life of one issuer's token; times in milliseconds. */
export interface RenewalOptions extends TokenOptions, Pick<Renewed, 'endpoint' | 'emit'> {
  readonly maxWait: number
  readonly flights: Flights
  /** Whether the credentials can change at any time, so that a refused client may be accepted at the next try. */
  readonly credentialsMayChange: boolean
}

/** What a call needs of the token of one issuer. */
export type CurrentToken = Pick<
  RenewingToken,
  'live' | 'wait' | 'isCurrent' | 'invalidate' | 'rejectedAt' | 'maxWait'
>

/**
 * The life of one issuer's token: reused while fresh, renewed in the background while aging, waited for when
 * old, and never requested twice at the same time.
 *
 * Nothing runs without calls: a call looks at the token's age, so an idle process has no timer.
 */
export class RenewingToken {
  readonly #options: RenewalOptions
  readonly #held: HeldToken
  readonly #backoff = new RenewalBackoff()
  readonly #renewed: Renewed
  #flight: SingleFlight | undefined
  #closed = false

  constructor(source: TokenSource, options: RenewalOptions) {
    this.#options = options
    this.#held = new HeldToken(options)
    this.#renewed = { ...options, source, held: this.#held, backoff: this.#backoff }
  }

  /** Returns the token if it can be sent as it is; starts a background renewal when it is aging. */
  live(): AccessToken | undefined {
    const { token } = this.#held
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
    if (this.#flight?.isLost()) this.#flight = undefined
    const failure = this.#flight === undefined ? this.#tooEarly() : undefined
    if (failure !== undefined) {
      const old = this.#held.unexpired()
      if (old !== undefined) return old
      const delay = untilNextTry(failure, this.#options.maxWait)
      if (delay === undefined) {
        // a client that has wrapped this promise waits for it by then, so that the stack of the error names its caller
        await Promise.resolve()
        throw failure.error
      }
      this.#flight = this.#start({ delay, after: failure.error })
    }
    const flight = (this.#flight ??= this.#start())
    try {
      return await flight.join(signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (flight.isLost()) return this.wait(signal)
      const old = this.#held.unexpired()
      if (old === undefined) throw error
      return old
    }
  }

  /** Whether calls get this token now. */
  isCurrent(token: AccessToken): boolean {
    return this.#held.token === token
  }

  /** Drops `token` if it is still the current one: a late 401 of an older token changes nothing. */
  invalidate(token: AccessToken): void {
    this.#held.drop(token)
  }

  /** When a 401 last cost a token, on the monotonic clock. */
  get rejectedAt(): number {
    return this.#held.rejectedAt
  }

  /** How long a call waits for a token at most, in milliseconds. */
  get maxWait(): number {
    return this.#options.maxWait
  }

  status(): {
    token: 'none' | 'live' | 'expired'
    expiresAt?: Date
    lastError?: TokenlaneError['code']
    failingSince?: Date
    failedTries?: number
  } {
    const { token } = this.#held
    const live = this.#held.unexpired() === undefined ? 'expired' : 'live'
    const { last, failingSince, failedTries } = this.#backoff
    const failures = { lastError: last?.error.code, failingSince, failedTries: failedTries || undefined }
    return {
      token: token === undefined ? 'none' : live,
      ...defined({ expiresAt: token?.expiresAt, ...failures }),
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
    await this.#renewed.source.idle?.()
  }

  /** The last failure, if it is too early for another try. */
  #tooEarly(): Failure | undefined {
    const failure = this.#backoff.current
    // a refused client may have a new secret by now: only the provider knows
    const worthAsking = failure?.error.code === 'TOKEN_REQUEST_REFUSED' && this.#options.credentialsMayChange
    return worthAsking ? undefined : failure
  }

  #renewInBackground(): void {
    if (this.#flight?.isLost()) this.#flight = undefined
    if (this.#flight !== undefined || this.#closed || this.#backoff.current !== undefined) return
    if (this.#options.flights.mayRunUnawaited()) this.#flight = this.#start()
  }

  #start(retry?: Retry): SingleFlight {
    const run = async (flight: SingleFlight): Promise<AccessToken> => {
      try {
        return await renew(this.#renewed, flight, retry)
      } finally {
        if (this.#flight === flight) this.#flight = undefined
      }
    }
    return new SingleFlight(run, this.#options.maxWait, this.#options.flights)
  }
}
