import type { Exchange } from '../../src/adapter.ts'
import type { Clock } from './clock.ts'
import { type ScriptedIssuer, wait } from './scripted-issuer.ts'
import type { Issued } from './token-model.ts'

/** What an API does with calls, until a test changes it. */
export type Manner = 'right' | 'refuses every token' | 'forbids' | 'fails' | 'drops connections'

/** Half of 1 s, 2 s, 4 s … 60 s: the least that jitter leaves. */
const spacing = (rejections: number): number => Math.min(60_000, 1_000 * 2 ** (rejections - 1)) / 2

const shortestSpacing = 1_000
const longestSpacing = 60_000
/** Renewals in a row that an API forces without losing a call, if tokens are accepted between them. */
const mostQuick = 5

/** A protected API that knows which tokens are good, and how often it may cost its issuer a new one. */
export class ScriptedApi {
  readonly baseUrl: string
  readonly issuer: ScriptedIssuer
  manner: Manner = 'right'
  /** How long an answer takes, in milliseconds. */
  delay = 0
  /** It has accepted a token that it had refused: its 401s are not believed at once any more. */
  #isDoubted = false
  /** Tokens that were ever dropped because of this API. */
  #allRejections = 0
  /** Tokens in a row that were dropped because of this API, without a success between. */
  rejections = 0
  #lastRejection = Number.NEGATIVE_INFINITY
  readonly #refused = new Set<Issued>()
  readonly #clock: Clock
  readonly #violated: (what: string) => void

  constructor(baseUrl: string, issuer: ScriptedIssuer, clock: Clock, violated: (what: string) => void) {
    this.baseUrl = baseUrl
    this.issuer = issuer
    this.#clock = clock
    this.#violated = (what) => violated(`${what} (API ${baseUrl})`)
  }

  /** Whether a call may get the 401 of a revoked token, because renewals that this API forces are spaced. */
  get mayWithholdRenewal(): boolean {
    const isSpaced = this.#clock.monotonic < this.#lastRejection + longestSpacing
    return this.#isDoubted || this.rejections > 0 || (this.#allRejections >= mostQuick && isSpaced)
  }

  async answer(token: Issued, signal: AbortSignal | undefined): Promise<Exchange<number>> {
    const { manner } = this
    const good = this.issuer.takes(token)
    if (this.delay > 0) await wait(this.delay, signal)
    switch (manner) {
      case 'drops connections':
        throw new ConnectionLost()
      case 'forbids':
        return exchange(401, 'Bearer error="insufficient_scope"')
      case 'fails':
        return exchange(503)
      case 'right':
        if (!good) break
        this.rejections = 0
        this.#isDoubted ||= this.#refused.has(token)
        return exchange(200)
      case 'refuses every token':
    }
    this.#refused.add(token)
    return exchange(401)
  }

  /** The current token is dropped because of this API. */
  rejected(): void {
    const now = this.#clock.monotonic
    const token = this.issuer.model.current
    if (token === undefined || !this.#refused.has(token))
      this.#violated('invariant 3: a token was dropped that this API never refused')
    if (now < this.issuer.rejectedAt + shortestSpacing)
      this.#violated('invariant 3: two renewals forced by 401 within a second')
    if (this.rejections > 0 && now < this.#lastRejection + spacing(this.rejections))
      this.#violated('invariant 3: renewals forced by 401 are not spaced')
    this.rejections += 1
    this.#allRejections += 1
    this.#lastRejection = now
    this.issuer.rejectedAt = now
  }
}

export class ConnectionLost extends Error {}

function exchange(status: number, wwwAuthenticate?: string): Exchange<number> {
  return { status, wwwAuthenticate, result: status, discard: () => {} }
}
