import type { TokenlaneError } from '../errors.ts'
import type { TokenSource } from '../issuer/token-source.ts'
import { isRequestBound, requestKeeper } from '../runtime/request-bound.ts'
import type { AccessToken } from './access-token.ts'
import { HeldToken } from './held-token.ts'
import { Renewal, type RenewalOptions, type Renewed, type Retry } from './renewal.ts'
import { RenewalBackoff } from './renewal-backoff.ts'

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
  /** How long a call waits for a token at most, in milliseconds. */
  readonly maxWait: number
  readonly #held: HeldToken
  readonly #backoff = new RenewalBackoff()
  readonly #renewed: Renewed
  #renewal: Renewal | undefined
  #closed = false

  constructor(source: TokenSource, options: RenewalOptions) {
    this.maxWait = options.maxWait
    this.#held = new HeldToken(options.issuer, options.renewBefore)
    this.#renewed = { ...options, source, held: this.#held, backoff: this.#backoff }
  }

  /** Returns the token if it can be sent as it is; starts a background renewal when it is aging. */
  live(): AccessToken | undefined {
    const { token, grant, renewBefore, floor } = this.#held
    const left = grant?.expiry.remaining() ?? 0
    if (left <= floor) return undefined
    if (left <= renewBefore) this.#renewInBackground()
    return token
  }

  /**
   * Waits for a token that can be sent. Aborting `signal` ends this wait only.
   *
   * @throws TokenlaneError why there is no token, after `maxWait` at the latest; the signal's reason if it aborts.
   */
  async wait(signal: AbortSignal | undefined): Promise<AccessToken> {
    const failure = this.#underWay === undefined ? this.#tooEarly() : undefined
    let retry: Retry | undefined
    if (failure !== undefined) {
      const old = this.#held.unexpired()
      if (old !== undefined) return old
      const delay = this.#backoff.untilNextTry(this.maxWait)
      if (delay === undefined) {
        // a client that has wrapped this promise waits for it by then, so that the stack of the error names its caller
        await Promise.resolve()
        throw failure
      }
      retry = { delay, after: failure }
    }
    const renewal = this.#renewal ?? this.#begin(retry)
    try {
      return await renewal.join(signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (renewal.isLost) return this.wait(signal)
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

  status(): {
    readonly token: 'none' | 'live' | 'expired'
    readonly expiresAt: string | undefined
    readonly lastError: TokenlaneError['code'] | undefined
    readonly failingSince: string | undefined
    readonly failedTries: number | undefined
  } {
    const { token, left } = this.#held
    const { last, failingSince, failedTries } = this.#backoff
    const held = left > 0 ? 'live' : 'expired'
    return {
      token: token === undefined ? 'none' : held,
      expiresAt: token?.expiresAt.toISOString(),
      lastError: last?.error.code,
      failingSince: failingSince?.toISOString(),
      failedTries: failedTries || undefined,
    }
  }

  /** Whether no renewal is under way. */
  get isIdle(): boolean {
    return this.#renewal === undefined
  }

  /** Starts no further try; ends when the request under way has ended. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#renewal?.stop()
    await this.#renewed.source.idle?.()
  }

  get #underWay(): Renewal | undefined {
    if (this.#renewal?.isLost === true) this.#renewal = undefined
    return this.#renewal
  }

  /** Returns why the last renewal failed, if it is too early for another one. */
  #tooEarly(): TokenlaneError | undefined {
    const failure = this.#backoff.tooEarly
    // a refused client may have a new secret by now: only the provider knows
    const worthAsking = failure?.code === 'TOKEN_REQUEST_REFUSED' && this.#renewed.credentialsMayChange
    return worthAsking ? undefined : failure
  }

  #renewInBackground(): void {
    if (this.#underWay !== undefined || this.#closed || this.#backoff.tooEarly !== undefined) return
    // where it ends with an incoming request that nothing keeps going, calls have to wait for it
    if (!isRequestBound() || requestKeeper() !== undefined) this.#begin()
  }

  #begin(retry?: Retry): Renewal {
    const renewal = new Renewal(this.#renewed, retry, () => {
      if (this.#renewal === renewal) this.#renewal = undefined
    })
    this.#renewal = renewal
    return renewal
  }
}
