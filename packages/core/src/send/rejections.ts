import type { Emit } from '../events.ts'
import { pause } from '../time/delay.ts'
import type { AccessToken } from '../access-token.ts'
import type { ContestedToken } from '../token/contested-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import type { Report } from './api.ts'
import { clockBehind } from './bearer-challenge.ts'

/** In milliseconds: between renewals that 401s force, and the longest wait for one. */
const second = 1_000
/** In milliseconds: the longest distance between futile renewals, and for how long a new token is on trial. */
const minute = 60_000

export interface Refusing {
  readonly baseUrl: string
  readonly issuer: string
  /** The path of the option that names the issuer. */
  readonly option: string
  readonly token: CurrentToken
  readonly emit: Emit
}

interface RefusedCall {
  readonly mayResend: boolean
  /** How long it may wait, in milliseconds. */
  readonly maxWait: number
  readonly report: Report
}

/** The token before the current one, where an API has refused the current one. */
interface OldToken {
  readonly token: AccessToken
  /** For how long calls get it before they try the current one again, in milliseconds, and until when. */
  readonly span: number
  readonly until: number
}

/**
 * Decides which token the calls of one API get, and how to react to a 401 that refuses the token. A call is sent once more
 * after a 401, and a second 401 is the caller's. The first of these rules that fits decides what it is sent with:
 *
 * 1. **The token has been replaced**: its successor.
 * 2. **The token is on trial**, that is, the API has not accepted it for a minute yet, and the renewal was ahead of
 *    expiry: the old token, while it lives. The API gets the old one for a second, then tries the new one again, and gets
 *    the old one for twice as long each time. If the old one is refused as well, the issuer revokes old tokens, and this
 *    API gets none of them any more.
 * 3. **The API's clock is behind**, as the refusal shows: the same token, if the clock reaches it within a second. A newer
 *    one would begin later still.
 * 4. **A renewal is due**: a new token. A renewal is due a second after the last one that a 401 forced. As long as the API
 *    has not accepted its token it was futile: the next one is due after 2 to 3 s, and each further one after about twice as
 *    long, up to a minute. That is drawn, or processes that take each other's token away might do so for ever.
 *    An API that accepts a token which it has refused refuses good tokens: its renewals are a minute apart too, unless
 *    it refuses a token that it had accepted for a second and accepts it on no call.
 * 5. **The API refuses good tokens**: the same token, at once. To find out whether it does, the first call that is refused
 *    goes at once too where calls have waited for the renewal before.
 * 6. **A renewal falls due within a second, or the first second of a new token ends**, which not all servers may know yet:
 *    the call waits for that.
 *
 * Otherwise the 401 is the caller's. So three facts decide: what the API makes of the current token, how far apart its
 * renewals are, and until when it gets the old token.
 */
export class Rejections {
  /** Set once it was reported that new tokens do not help, until this API accepts one. */
  refusesTokens: true | undefined
  readonly #api: Refusing
  readonly #held: CurrentToken['held']
  readonly #contested: Pick<ContestedToken, 'ended' | 'disproved'>
  /** The token that the next four are about. */
  #judged: AccessToken | undefined
  /** Since when it has been accepted, on the monotonic clock; `undefined` also after the API went back to the old one. */
  #acceptedSince: number | undefined
  /** When it was refused first since it was accepted last, on the monotonic clock. */
  refusedSince: number | undefined
  /** Whether the last refusal showed that the API's clock has not reached it. */
  #isEarly = false
  #isReported = false
  /** In milliseconds, from the last renewal that a 401 forced to the next one. */
  #distance = second
  /** Whether calls have waited for the renewal that brought the current token, and not for the one before. */
  #hasWaited = false
  #old: OldToken | undefined
  /** The old token that this API does not get again; `'every'` if it gets none. */
  #spurned: AccessToken | 'every' | undefined

  constructor(api: Refusing, contested: Pick<ContestedToken, 'ended' | 'disproved'>) {
    this.#api = api
    this.#held = api.token.held
    this.#contested = contested
  }

  /** Returns the token that calls of this API are sent with; `undefined` if they have to wait for one. */
  live(): AccessToken | undefined {
    const old = this.#old
    if (old !== undefined) {
      if (this.#held.former() !== old.token) this.#old = undefined
      else if (performance.now() < old.until) return old.token
    }
    return this.#api.token.live()
  }

  wait(signal: AbortSignal | undefined): Promise<AccessToken> {
    return this.#api.token.wait(signal)
  }

  get failure(): CurrentToken['failure'] {
    return this.#api.token.failure
  }

  /**
   * Notes a 401 for a token, and drops the token if its renewal is due.
   *
   * @returns how long the call is to wait before it is sent again, in milliseconds; `undefined` if the 401 is the caller's.
   */
  refused(token: AccessToken, { mayResend, maxWait, report }: RefusedCall): number | undefined {
    const { token: current } = this.#held
    if (current === token) this.#judge(token)
    else {
      if (this.#old?.token !== token) return 0
      this.#old = undefined
      this.#spurned = 'every'
      // the current one has not been refused here, or is being renewed
      if (this.refusedSince === undefined || this.#judged !== current) return 0
    }
    const now = performance.now()
    const isFirst = this.refusedSince === undefined
    const since = (this.refusedSince ??= now)
    if (this.#goBack(now)) return 0
    const behind = clockBehind(report, this.#held.grant?.date)
    this.#isEarly = behind <= minute && now < since + minute
    if (this.#isEarly) return behind <= second && maxWait >= second ? second : undefined
    const dueAt = this.#dueAt(since)
    if (now >= dueAt) {
      this.#hasWaited = false
      this.#drop()
      return 0
    }
    const isUnaccepted = this.#acceptedSince === undefined
    if (mayResend && isFirst && !isUnaccepted && this.#hasWaited) return 0
    // a wait would keep sequential calls from finding out more
    if (!isUnaccepted && this.#distance === minute) return mayResend ? 0 : undefined
    const wait = Math.min(dueAt, isUnaccepted && now < since + second ? since + second : Infinity) - now
    // a second after now may be a fraction more than a second, as numbers are added
    return Math.floor(wait) <= Math.min(second, maxWait) ? wait : undefined
  }

  /** Waits, and drops the token if its renewal is due then and the API has not accepted it; throws if the signal aborts. */
  async waitForRenewal(ms: number, token: AccessToken, signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + ms
    // a timer may fire early
    for (let left = ms; left > 0; left = end - performance.now()) await pause(left, signal)
    const since = this.refusedSince
    if (since === undefined || this.#isEarly || this.#held.token !== token) return
    if (performance.now() < this.#dueAt(since)) return
    if (this.#distance === second && this.#acceptedSince !== undefined)
      this.#contested.ended(this.#api.baseUrl)
    this.#hasWaited = !this.#hasWaited
    this.#drop()
  }

  /** @param refusedSince - as it was when the attempt was sent. */
  accepted(token: AccessToken, refusedSince: number | undefined): void {
    const isKnown = this.#judged === token && this.#acceptedSince !== undefined
    if (isKnown && this.refusedSince === undefined) return
    // the response was late, or the API gets the old one
    if (this.#held.token !== token) return
    this.#judge(token)
    // it was sent before the refusal
    if (this.refusedSince !== undefined && refusedSince !== this.refusedSince) return
    if (this.refusesTokens)
      this.#api.emit({ type: 'rejection.ended', issuer: this.#api.issuer, api: this.#api.baseUrl })
    this.refusesTokens = undefined
    if (this.#acceptedSince === undefined) {
      this.#acceptedSince = performance.now()
      this.#distance = second
    } else {
      this.#distance = minute
      this.#contested.disproved()
    }
    this.refusedSince = undefined
  }

  /** Reports a 401 that is the caller's, once for each token, where it shows that new tokens do not help. */
  reportFinal(token: AccessToken): void {
    if (this.#judged !== token || this.#isReported) return
    if ((this.#distance === second && !this.#isEarly) || this.#acceptedSince !== undefined) return
    this.#isReported = true
    this.refusesTokens = true
    const { issuer, baseUrl, option, emit } = this.#api
    const early = this.#isEarly && { clockBehind: true as const }
    emit({ type: 'rejection.repeated', issuer, api: baseUrl, option, ...early })
  }

  #judge(token: AccessToken | undefined): void {
    if (this.#judged === token) return
    this.#judged = token
    this.#acceptedSince = undefined
    this.refusedSince = undefined
    this.#isEarly = false
    this.#isReported = false
  }

  /** @param since when the current token was refused first. */
  #dueAt(since: number): number {
    const { rejectedAt } = this.#held
    const distant = rejectedAt + this.#distance
    return this.#acceptedSince === undefined
      ? distant
      : Math.max(rejectedAt + second, Math.min(distant, since + second))
  }

  /** Lets the API get the old token for a while, if the one that it has refused is on trial; returns whether it does. */
  #goBack(now: number): boolean {
    const token = this.#held.former()
    const isProven = now >= (this.#acceptedSince ?? now) + minute
    const isSpurned = this.#spurned === 'every' || this.#spurned === token
    if (token === undefined || isSpurned || isProven) return false
    const before = this.#old?.token === token ? this.#old : undefined
    this.#acceptedSince = undefined
    // another call has found out before
    if (before !== undefined && now < before.until) return true
    const span = before === undefined ? second : Math.min(minute, 2 * before.span)
    this.#old = { token, span, until: now + span }
    return true
  }

  /** Every call that needs a token waits for the renewal from now on. */
  #drop(): void {
    const { issuer, baseUrl, emit } = this.#api
    const drawn = Math.random() / (this.#distance === second ? 1 : 4)
    this.#distance = Math.min(minute, (2 + drawn) * this.#distance)
    this.#judge(undefined)
    this.#old = undefined
    if (this.#spurned !== 'every') this.#spurned = this.#held.former()
    this.#held.drop()
    if (emit.isObserved) emit({ type: 'token.rejected', issuer, api: baseUrl })
  }
}
