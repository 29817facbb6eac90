import { closedError, isTokenlaneError, type TokenlaneError, whyOf, withMore } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { defined, type Emit, type RenewalReason } from '../events.ts'
import type { CheckedIssuer } from '../issuer/check-issuer.ts'
import type { Grant, TokenSource, Wait } from '../issuer/token-source.ts'
import { abortable, Delay } from '../time/delay.ts'
import { Countdown } from '../time/countdown.ts'
import type { AccessToken } from '../access-token.ts'
import type { HeldToken } from './held-token.ts'
import { RenewalBackoff } from './renewal-backoff.ts'
import type { shareAcrossRequests } from './share-across-requests.ts'

export interface Retry {
  /** How long to wait before it, in milliseconds. */
  readonly delay: number
  readonly after: TokenlaneError
}

export type RenewalOptions = Pick<CheckedIssuer, 'renewBefore' | 'maxWait' | 'url' | 'credentials'> & {
  readonly issuer: string
  readonly emit: Emit
}

export type Renewed = RenewalOptions & {
  readonly source: TokenSource
  readonly held: HeldToken
  /** Set where the runtime needs it. */
  readonly share: typeof shareAcrossRequests | undefined
  /** Since the first try that failed, until one succeeds. */
  backoff: RenewalBackoff | undefined
}

/** One renewal, shared by every call that needs it: tries while calls wait and another try may end otherwise. */
export class Renewal implements Wait {
  readonly #renewed: Renewed
  readonly #result: Promise<AccessToken>
  /** The result for calls of other incoming requests, where they cannot wait for it themselves. */
  readonly #shared: ReturnType<typeof shareAcrossRequests> | undefined
  /** How many calls have waited so far, and how many do now. */
  #joiners = 0
  #waiting = 0
  #countdown: Countdown | undefined
  #delay: Delay | undefined
  #isStopped = false
  #isOver = false
  #wasNeeded = true

  /** @param first set if the renewal begins with a wait, after an earlier one failed. */
  constructor(renewed: Renewed, first?: Retry) {
    this.#renewed = renewed
    this.#result = this.#run(first)
    // a background renewal may fail: that is reported to observers only
    this.#result.catch(() => {})
    this.#shared = renewed.share?.(this.#result)
  }

  /** Whether the renewal will never end. */
  get isLost(): boolean {
    return this.#shared?.isLost() === true
  }

  get isUnderWay(): boolean {
    return !this.#isOver && !this.isLost
  }

  /** Whether it gave up because calls still had a token, which may have expired since. */
  get gaveUpUnneeded(): boolean {
    return !this.#wasNeeded && !this.#isStopped
  }

  get timeLeft(): number {
    return this.#countdown?.left ?? Number.POSITIVE_INFINITY
  }

  get needed(): boolean {
    return this.#waiting > 0 && this.#renewed.held.unexpired() === undefined
  }

  get held(): string | undefined {
    return this.#renewed.held.token?.value
  }

  accepts(grant: Grant): boolean {
    return this.#renewed.held.wouldAccept(grant)
  }

  async pause(ms: number, early?: Promise<unknown>): Promise<void> {
    if (!this.#isStopped) await this.#wait(ms, early)
    if (this.#isStopped) throw closedError(`issuer "${printable(this.#renewed.issuer)}"`)
  }

  /** Waits for the token. Aborting `signal` ends this wait only. */
  async join(signal: AbortSignal | undefined): Promise<AccessToken> {
    if (this.#waiting === 0) {
      this.#countdown?.stop()
      this.#countdown = new Countdown(this.#renewed.maxWait)
      this.#delay?.ref()
    }
    this.#waiting += 1
    this.#joiners += 1
    try {
      return await abortable(this.#shared?.join() ?? this.#result, signal)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) {
        this.#countdown?.stop()
        this.#delay?.unref()
      }
    }
  }

  /** Ends the delay under way and lets no try follow; waits until the renewal has succeeded or failed. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#delay?.stop()
    await this.#result.catch(() => {})
  }

  async #run(first: Retry | undefined): Promise<AccessToken> {
    // the caller has stored the renewal by then
    await Promise.resolve()
    const { held, source } = this.#renewed
    const reason = held.reason()
    const start = performance.now()
    let retry = first
    try {
      for (let tries = 1; ; tries += 1) {
        if (retry !== undefined) await this.#pauseBefore(retry)
        try {
          const { forgotten } = held
          const grant = await source.obtain(reason, this)
          const isStored = grant.duration === undefined
          // it was asked for before the token was dropped by hand
          const isOld = held.forgotten !== forgotten || (isStored && held.distrustsStored)
          if (!isOld) return this.#use(grant, reason)
          held.distrustsStored = false
          grant.drop?.()
          retry = undefined
        } catch (error) {
          if (!isTokenlaneError(error)) throw error
          this.#backoff.tried(error)
          const delay = this.#delayAfter(error, tries)
          if (delay === undefined) {
            // where `maxWait` cut the last try short, the one before it says more
            const isCut = tries > 1 && this.timeLeft <= 1 && error.code === 'TOKEN_REQUEST_TIMEOUT'
            throw this.#giveUp((isCut && retry?.after) || error, tries, performance.now() - start)
          }
          this.#report(error, delay, false)
          retry = { delay, after: error }
        }
      }
    } finally {
      this.#isOver = true
    }
  }

  get #backoff(): RenewalBackoff {
    return (this.#renewed.backoff ??= new RenewalBackoff())
  }

  #use(grant: Grant, reason: RenewalReason): AccessToken {
    const { held, backoff, issuer, emit } = this.#renewed
    const token = held.use(grant)
    this.#renewed.backoff = undefined
    if (!emit.isObserved) return token
    const outage = backoff?.outage
    const { duration } = grant
    const { expiresAt } = token
    if (duration === undefined) emit({ type: 'token.received', issuer, expiresAt })
    else {
      const joiners = this.#joiners
      emit({ type: 'token.renewed', issuer, expiresAt, duration, reason, joiners, ...(outage && { outage }) })
    }
    return token
  }

  /** Throws the error of the try before if no call waits any more. */
  async #pauseBefore({ delay, after }: Retry): Promise<void> {
    await this.#wait(delay)
    if (this.#waiting > 0 && !this.#isStopped) return
    if (after !== this.#renewed.backoff?.last?.error) this.#remember(after)
    throw after
  }

  /** Lets time pass, until `early` settles. Keeps the process alive only while calls wait. */
  async #wait(ms: number, early?: Promise<unknown>): Promise<void> {
    const delay = new Delay(ms)
    this.#delay = delay
    if (this.#waiting === 0) delay.unref()
    early?.catch(() => {}).finally(() => delay.stop())
    await delay.over
  }

  #delayAfter(error: TokenlaneError, tries: number): number | undefined {
    // waiting calls are better served with the old token now than with a new one later
    this.#wasNeeded = this.needed
    return this.#wasNeeded && !this.#isStopped
      ? this.#backoff.retryDelay(error, tries, this.timeLeft)
      : undefined
  }

  /** Remembers and reports the failure; returns the error of the calls that have waited. */
  #giveUp(error: TokenlaneError, tries: number, span: number): TokenlaneError {
    const { maxWait } = this.#renewed
    const backoff = this.#backoff
    // a refusal that was only remembered is not another failure
    if (error === backoff.last?.error) return error
    const last = error.definite === true ? error : afterTries(error, tries, span, maxWait)
    const retryIn = this.#remember(last)
    this.#report(error, retryIn, backoff.untilNextTry(maxWait) === undefined)
    return last
  }

  #remember(error: TokenlaneError): number {
    const { held } = this.#renewed
    // calls that gave up early do not make the later ones fail at once
    return this.#backoff.failed(error, held.timeUntilOld() ?? (this.#waiting > 0 ? undefined : 0))
  }

  #report(error: TokenlaneError, retryIn: number, callsFail: boolean): void {
    const { issuer, url, held, maxWait, emit } = this.#renewed
    const { code, status, oauthError, transportCode } = error
    const reason = whyOf(error)
    const repeats = this.#backoff.tryFailed(error, reason)
    const tokenStillValid = held.unexpired() !== undefined
    emit({
      type: 'renewal.failed',
      issuer,
      code,
      endpoint: url.origin + url.pathname,
      ...defined({ status, oauthError, transportCode }),
      reason,
      repeats,
      retryIn,
      tokenStillValid,
      failFast: callsFail && !tokenStillValid,
      ...(!callsFail && !tokenStillValid && { maxWait }),
    })
  }
}

function afterTries(error: TokenlaneError, tries: number, span: number, maxWait: number): TokenlaneError {
  const times = tries === 1 ? '1 try' : `${tries} tries`
  const asked = error.retryAfter === undefined ? '' : ` (Retry-After: ${error.retryAfter} ms)`
  const why = `the next one${asked} would come too late for \`maxWait\` (${maxWait} ms)`
  return withMore(error, `; gave up after ${times} in ${Math.round(span)} ms: ${why}`)
}
