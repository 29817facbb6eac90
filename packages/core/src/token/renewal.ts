import { closedError, isTokenlaneError, reasonOf, type TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { defined, type Emit, type RenewalReason } from '../events.ts'
import type { Grant, TokenSource, Wait } from '../issuer/token-source.ts'
import { AccessToken } from './access-token.ts'
import type { HeldToken } from './held-token.ts'
import { firstRetry, type RenewalBackoff, retryDelay } from './renewal-backoff.ts'
import type { SingleFlight } from './single-flight.ts'

/** A renewal that begins with a wait, after an earlier one failed. */
export interface Retry {
  readonly delay: number
  readonly after: TokenlaneError
}

/** What all renewals of one issuer's token share. */
export interface Renewed {
  readonly source: TokenSource
  readonly held: HeldToken
  readonly backoff: RenewalBackoff
  /** Name of the issuer. */
  readonly issuer: string
  /** The token endpoint's URL without a query. */
  readonly endpoint: string
  readonly emit: Emit
}

/** One renewal of an issuer's token: its tries, the pauses between them, and what is reported of it. */
export class Renewal {
  readonly #renewed: Renewed
  readonly #flight: SingleFlight

  constructor(renewed: Renewed, flight: SingleFlight) {
    this.#renewed = renewed
    this.#flight = flight
  }

  /**
   * Tries until there is a token, for as long as calls wait for it and another try may end otherwise.
   *
   * @throws TokenlaneError what the last try failed with.
   */
  async run(retry: Retry | undefined): Promise<AccessToken> {
    const { source, held, backoff } = this.#renewed
    const reason = held.reason()
    const wait = this.#wait()
    if (retry !== undefined) await this.#pauseBeforeTry(retry)
    for (let tries = 1; ; tries += 1) {
      try {
        const grant = await source.obtain(reason, wait)
        const token = held.use(grant)
        backoff.succeeded()
        this.#reportToken(grant, token, reason)
        return token
      } catch (error) {
        const delay = this.#delayAfter(error, tries)
        if (delay === undefined) throw this.#failed(error)
        this.#reportFailure(error as TokenlaneError, delay)
        await this.#pauseBeforeTry({ delay, after: error as TokenlaneError })
      }
    }
  }

  /** Waits before the next try; throws the error of the one before if no call waits for the next one any more. */
  async #pauseBeforeTry({ delay, after }: Retry): Promise<void> {
    await this.#flight.delay(delay)
    if (this.#flight.awaited && !this.#flight.isStopped) return
    if (after !== this.#renewed.backoff.last?.error) this.#remember(after)
    throw after
  }

  /** Returns how long to wait before the next try; `undefined` if there must be none. */
  #delayAfter(error: unknown, tries: number): number | undefined {
    const { awaited, isStopped, timeLeft } = this.#flight
    if (!isTokenlaneError(error) || !awaited || isStopped) return undefined
    // waiting calls are better served with the old token now than with a new one later
    if (this.#renewed.held.unexpired() !== undefined) return undefined
    const delay = retryDelay(error, tries)
    // a try with hardly any time left would only hide the reason behind a timeout
    return delay !== undefined && delay + firstRetry < timeLeft ? delay : undefined
  }

  /** Remembers and reports the failure that ends the renewal. */
  #failed(error: unknown): unknown {
    // a refusal that was only remembered is not another failure
    if (!isTokenlaneError(error) || error === this.#renewed.backoff.last?.error) return error
    this.#reportFailure(error, this.#remember(error))
    return error
  }

  /** Remembers the failure of the renewal; returns how long it is too early for the next one, in milliseconds. */
  #remember(error: TokenlaneError): number {
    const { held, backoff } = this.#renewed
    const token = held.unexpired()
    if (token !== undefined) return backoff.failed(error, AccessToken.timeUntilOld(token))
    // calls that gave up early do not make the later ones fail at once
    return backoff.failed(error, this.#flight.awaited ? undefined : 0)
  }

  /** Reports a new token: requested by this process, or taken from the store. */
  #reportToken({ duration }: Grant, { expiresAt }: AccessToken, reason: RenewalReason): void {
    const { issuer, emit } = this.#renewed
    const { joiners } = this.#flight
    if (duration === undefined) emit?.({ type: 'token.received', issuer, expiresAt })
    else emit?.({ type: 'token.renewed', issuer, expiresAt, duration, reason, joiners })
  }

  /** Reports why there is no new token, and when the next try comes. */
  #reportFailure(error: TokenlaneError, retryIn: number): void {
    const { issuer, endpoint, held, emit } = this.#renewed
    const { code, status, oauthError, transportCode } = error
    const reason = reasonOf(error).replace(/^Cannot obtain token: /, '')
    const tokenStillValid = held.unexpired() !== undefined
    const failed = {
      issuer,
      code,
      endpoint,
      status,
      oauthError,
      transportCode,
      reason,
      retryIn,
      tokenStillValid,
    }
    emit?.({ type: 'renewal.failed', ...defined(failed) })
  }

  #wait(): Wait {
    const { held, issuer } = this.#renewed
    const flight = this.#flight
    return {
      get timeLeft() {
        return flight.timeLeft
      },
      get needed() {
        return flight.awaited && held.unexpired() === undefined
      },
      accepts: (grant) => held.wouldAccept(grant),
      async pause(ms, early) {
        if (!flight.isStopped) await flight.delay(ms, early)
        if (flight.isStopped) throw closedError(`issuer "${printable(issuer)}"`)
      },
    }
  }
}
