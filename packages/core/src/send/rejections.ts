import type { Emit } from '../events.ts'
import { pause } from '../time/delay.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { ContestedToken } from '../token/contested-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'

/** In milliseconds: between renewals that 401s force, and the longest wait for what may help. */
const second = 1_000
/** In milliseconds: the longest interval between futile renewals, and for how long an API is not believed. */
const minute = 60_000

/** What the calls of one API have in common that is about its 401s. */
export interface Refusing {
  readonly baseUrl: string
  readonly issuer: string
  /** The path of the option that names the issuer. */
  readonly option: string
  readonly token: CurrentToken
  readonly emit: Emit
}

/** An attempt that got a 401. */
interface Attempt {
  readonly token: AccessToken
  /** Whether its call may be sent again at all. */
  readonly mayResend: boolean
  /** How often its call was sent again after a 401 before. */
  readonly resends: number
  /** How long its call may still wait, in milliseconds. */
  readonly patience: number
}

/** What an API makes of one token. */
interface Judgement {
  readonly token: AccessToken
  /** Until it was accepted, or refused for a second. */
  isNew: boolean
  /** When it was refused first since it was accepted last, on the monotonic clock. */
  refusedSince: number | undefined
  isReported: boolean
}

/**
 * Decides what a 401 of one API means that speaks of the token.
 *
 * **The token has been replaced**: the call is sent again with its successor.
 *
 * **A renewal is due**: the token is renewed, and the call is sent again with the new one. A renewal is due a second
 * after the last one that a 401 forced. It was futile as long as this API has not accepted its token: then the next one
 * is due after 2 to 3 s, and after each further futile one after twice as long, up to a minute. The 2 to 3 s are drawn,
 * or two processes that take each other's token away might do so forever.
 *
 * **The token is not new**: this API had accepted it, or has refused it for a second. Then the first call that is refused
 * is sent again at once with the same token. An API that accepts such a token after it refused it refuses good tokens:
 * for a minute, only a call that is refused twice in a row counts as refused, and only a second of refusals without an
 * acceptance forces a renewal.
 *
 * **Something that may help comes within a second**: the call waits for it, and is sent again. That is a renewal that
 * falls due, or the end of the first second of a new token, which not all servers may know yet. An API that refuses good
 * tokens is waited for only if it has refused another call before, and accepted none since.
 *
 * **Otherwise the 401 is the caller's**: after two more sends, and while two renewals or more in a row were futile.
 *
 * So four facts decide: whether the token is new, since when it is refused, how far apart renewals are, and until when the
 * API is not believed.
 *
 * docs/rejections.md shows what that comes to.
 */
export class Rejections {
  /** Set once it was reported that new tokens do not help, until this API accepts one. */
  refusesTokens: true | undefined
  readonly #api: Refusing
  readonly #contested: Pick<ContestedToken, 'ended' | 'disproved'>
  #judgement: Judgement | undefined
  /** In milliseconds, from the last renewal that a 401 forced to the next one: more than a second if it was futile. */
  #renewalDistance = second
  #doubtedUntil = Number.NEGATIVE_INFINITY

  constructor(api: Refusing, contested: Pick<ContestedToken, 'ended' | 'disproved'>) {
    this.#api = api
    this.#contested = contested
  }

  /** Since when this API has refused the current token without accepting it. */
  get refusedSince(): number | undefined {
    return this.#judgement?.refusedSince
  }

  /**
   * Notes a 401 for the current token, and drops the token if its renewal is due.
   *
   * @returns how long the call is to wait before it is sent again, in milliseconds; `undefined` if the 401 is the caller's.
   */
  refused({ token, mayResend, resends, patience }: Attempt): number | undefined {
    const mayGoAtOnce = mayResend && resends === 0
    const now = performance.now()
    const judgement = this.#judgementOf(token)
    const isFirst = judgement.refusedSince === undefined
    const isDoubted = now < this.#doubtedUntil
    if (isDoubted && isFirst && mayGoAtOnce) return 0
    const since = (judgement.refusedSince ??= now)
    judgement.isNew &&= now < since + second
    const dueAt = this.#dueAt(since, now)
    if (now >= dueAt) {
      this.#drop(token)
      return 0
    }
    if (mayGoAtOnce && (isDoubted || (isFirst && !judgement.isNew))) return 0
    if ((isDoubted && isFirst) || this.#renewalDistance >= 4 * second) return undefined
    const wait = Math.min(dueAt, judgement.isNew ? since + second : Infinity) - now
    // a second after now may be a fraction more than a second, as numbers are added
    return Math.floor(wait) <= Math.min(second, patience) ? wait : undefined
  }

  /** Waits, and drops the token if its renewal is due then and the API has not accepted it; throws if the signal aborts. */
  async wait(ms: number, token: AccessToken, signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + ms
    // a timer may fire early
    for (let left = ms; left > 0; left = end - performance.now()) await pause(left, signal)
    if (!this.#api.token.isCurrent(token)) return
    const now = performance.now()
    const { refusedSince, isNew } = this.#judgementOf(token)
    if (refusedSince === undefined || now < this.#dueAt(refusedSince, now)) return
    if (this.#renewalDistance === second && !isNew) this.#contested.ended(this.#api.baseUrl)
    this.#drop(token)
  }

  /** Notes that a token was accepted; `refusedSince` is what it was when the attempt was sent. */
  accepted(token: AccessToken, refusedSince: number | undefined): void {
    // the response was late
    if (!this.#api.token.isCurrent(token)) return
    const judgement = this.#judgementOf(token)
    if (judgement.refusedSince !== undefined) {
      // it was sent before the refusal
      if (refusedSince !== judgement.refusedSince) return
      if (!judgement.isNew) {
        this.#doubtedUntil = performance.now() + minute
        this.#contested.disproved()
      }
    }
    judgement.refusedSince = undefined
    judgement.isNew = false
    this.#renewalDistance = second
    this.refusesTokens = undefined
  }

  /** Reports a 401 that is the caller's, once for each token, where it shows that new tokens do not help. */
  reportFinal(token: AccessToken): void {
    if (this.#renewalDistance === second || !this.#api.token.isCurrent(token)) return
    const judgement = this.#judgementOf(token)
    if (judgement.isReported) return
    judgement.isReported = true
    this.refusesTokens = true
    const { issuer, baseUrl, option, emit } = this.#api
    emit({ type: 'rejection.repeated', issuer, api: baseUrl, option })
  }

  #judgementOf(token: AccessToken): Judgement {
    if (this.#judgement?.token !== token)
      this.#judgement = { token, isNew: true, refusedSince: undefined, isReported: false }
    return this.#judgement
  }

  #dueAt(since: number, now: number): number {
    const dueAt = this.#api.token.rejectedAt + this.#renewalDistance
    return now < this.#doubtedUntil ? Math.max(dueAt, since + second) : dueAt
  }

  /** Every call that needs a token waits for the renewal from now on. */
  #drop(token: AccessToken): void {
    const { issuer, baseUrl, emit } = this.#api
    const longer = this.#renewalDistance === second ? 1 + Math.random() / 2 : 1
    this.#renewalDistance = Math.min(minute, 2 * longer * this.#renewalDistance)
    this.#judgement = undefined
    this.#api.token.invalidate(token)
    emit({ type: 'token.rejected', issuer, api: baseUrl })
  }
}
