import { isRefusal } from '../credentials/refused-client.ts'
import type { TokenlaneError } from '../errors.ts'
import { defined } from '../events.ts'
import type { TokenSource } from '../issuer/token-source.ts'
import { isRequestBound, requestKeeper } from '../runtime/request-bound.ts'
import { dateFromNow } from '../time/duration.ts'
import type { AccessToken } from '../access-token.ts'
import { HeldToken } from './held-token.ts'
import { Renewal, type RenewalOptions, type Renewed, type Retry } from './renewal.ts'
import type { FailedTries, RenewalBackoff } from './renewal-backoff.ts'
import { shareAcrossRequests } from './share-across-requests.ts'

export interface TokenStatus extends FailedTries {
  readonly token: 'none' | 'live' | 'expired'
  /** ISO 8601. */
  readonly expiresAt?: string
  /** From when on a call asks the issuer again after a renewal that failed, ISO 8601: now, if none has come since. */
  readonly nextTryAt?: string
}

/** What a call needs of the token of one issuer. */
export type CurrentToken = Pick<RenewingToken, 'live' | 'wait' | 'maxWait' | 'failure'> & {
  readonly held: Pick<HeldToken, 'token' | 'grant' | 'former' | 'drop' | 'forget' | 'rejectedAt'>
}

/**
 * The life of one issuer's token: reused while fresh, renewed in the background while aging, waited for when
 * old, and never requested twice at the same time.
 *
 * Nothing runs without calls: a call looks at the token's age, so an idle process has no timer.
 */
export class RenewingToken {
  readonly maxWait: number
  readonly held: HeldToken
  readonly #renewed: Renewed
  #renewal: Renewal | undefined

  constructor(source: TokenSource, options: RenewalOptions) {
    this.maxWait = options.maxWait
    this.held = new HeldToken(options)
    const share = isRequestBound() ? shareAcrossRequests : undefined
    this.#renewed = { ...options, source, held: this.held, share, backoff: undefined }
  }

  /** Returns the token if it can be sent as it is; starts a background renewal when it is aging. */
  live(): AccessToken | undefined {
    const { token, left, renewBefore, floor } = this.held
    if (left <= floor) return undefined
    if (left <= renewBefore) this.#renewInBackground()
    return token
  }

  /** Waits for a token; throws why there is none after `maxWait`, or the reason of the signal, which ends this wait only. */
  async wait(signal: AbortSignal | undefined): Promise<AccessToken> {
    let renewal = this.#renewal?.isUnderWay === true ? this.#renewal : undefined
    try {
      const failed = this.#renewed.backoff?.tooEarly
      renewal ??= this.#renewal = new Renewal(this.#renewed, failed && this.#waitAfter(failed))
      return await renewal.join(signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (renewal?.isLost === true) return this.wait(signal)
      const old = this.held.unexpired()
      if (old !== undefined) return old
      // it expired between the failure and this moment
      if (renewal?.gaveUpUnneeded === true) return this.wait(signal)
      // a client that has wrapped this promise waits for it by then, so that the stack of the error names its caller
      await Promise.resolve()
      throw error
    }
  }

  /** What the last try failed with, until one succeeds. */
  get failure(): RenewalBackoff['lastTry'] {
    return this.#renewed.backoff?.lastTry
  }

  status(): TokenStatus {
    const { token, left } = this.held
    const { failing, last } = this.#renewed.backoff ?? {}
    const age = left > 0 ? 'live' : 'expired'
    const state: TokenStatus['token'] = token === undefined ? 'none' : age
    return defined({
      token: state,
      expiresAt: token?.expiresAt.toISOString(),
      ...failing,
      nextTryAt: last && dateFromNow(last.until - performance.now()),
    })
  }

  get isIdle(): boolean {
    return this.#renewal?.isUnderWay !== true
  }

  /** Starts no further try; ends when the request under way has ended. */
  async close(): Promise<void> {
    await this.#renewal?.stop()
    await this.#renewed.source.idle?.()
  }

  /** Returns what to wait for before the next renewal; throws the error of the last one if calls fail with it for now. */
  #waitAfter(after: TokenlaneError): Retry | undefined {
    const { provider, initial } = this.#renewed.credentials
    // only the provider, or the file of an assertion, knows
    const mayChange = provider !== undefined || initial.some((client) => 'assertion' in client)
    // a refused client may have a new secret by now: only the provider knows
    if (mayChange && isRefusal(after)) return undefined
    const delay = this.held.unexpired() ? undefined : this.#renewed.backoff?.untilNextTry(this.maxWait)
    if (delay === undefined) throw after
    return { delay, after }
  }

  #renewInBackground(): void {
    if (!this.isIdle || this.#renewed.backoff?.tooEarly !== undefined) return
    // where it ends with an incoming request that nothing keeps going, calls have to wait for it
    if (this.#renewed.share === undefined || requestKeeper() !== undefined)
      this.#renewal = new Renewal(this.#renewed)
  }
}
