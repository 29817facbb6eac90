import type { TokenlaneEvent } from '../../src/index.ts'
import type { Clock } from './clock.ts'

/** A token as its issuer knows it. */
export interface Issued {
  readonly value: string
  /** Milliseconds. */
  readonly lifetime: number
  /** The instant of its request, on three clocks. */
  readonly requested: { readonly wall: number; readonly monotonic: number; readonly real: number }
}

/** A token as those who use it know it: its end on both clocks. */
interface Held {
  readonly issued: Issued
  readonly wallEnd: number
  readonly monotonicEnd: number
  /** When it arrived, on the monotonic clock. */
  readonly since: number
  /** Sticky: it was due at some time, so that a renewal may be under way even if a clock was set back since. */
  wasDue: boolean
  /** Sticky likewise: calls had to wait at some time. */
  hadToWait: boolean
}

/** Half of what the design has, for that is the least that jitter leaves; a timer fires up to 1 ms early. */
const leastRetry = 125 - 1
/** What a wait for the next try must leave of `maxWait`. */
const leastTry = 250
/** The first refusals in a row of a client are forgotten sooner: half of 2 s and, before any token, of 6 s. */
const firstMemories = [1_000, 3_000]
const refusalMemory = 30_000
const longestRetryAfter = 300_000
/** Failures in a row in 10 s: 5 flights fit in (0.5 + 1 + 2 + 4 s apart), and the first tries of each. */
const mostFailures = { number: 20, within: 10_000 }

/**
 * What the token of one issuer may be and what it may cost.
 *
 * The bound, checked at every token request, so that the sum holds too:
 * - a request needs a need: there is no token, or the one that is there is due by either clock (a tenth of its
 *   lifetime or `renewBefore`, a half at most, or the floor), or an API refused it. Every need ends with one
 *   success, so successes <= 1 + renewals due + tokens refused;
 * - tokens refused are spaced per API (scripted-api.ts);
 * - a failed request is followed by another one no sooner than `renewal.failed` said, and that is 125 ms at
 *   least and what Retry-After says, and by 20 within 10 s at most. One exception, once in a row: a call without a
 *   token (an API refused it, a clock was set) does not wait for our own spacing of background renewals if that is
 *   longer than it may wait;
 * - a refused secret is not tried again for 1 s, then for 30 s, before the first token for 3 s in between.
 */
export class TokenModel {
  readonly name: string
  readonly #clock: Clock
  readonly #renewBefore: number | undefined
  readonly #maxWait: number
  readonly #violated: (what: string) => void
  #current: Held | undefined
  /** The one before, where its renewal came ahead: an API that refuses the current one may get it. */
  #old: Held | undefined
  #former: { readonly token: Issued; readonly until: number } | undefined
  #open = 0
  #issued: Issued | undefined
  /** What the last answer asked for, in milliseconds. */
  #retryAfter: number | undefined
  #failure: { readonly until: number; readonly refused: boolean; readonly asked: boolean } | undefined
  #hurried = false
  /** The last request was refused: the next one may be the same flight's, with another secret. */
  #wasRefused = false
  #failures: number[] = []
  readonly #refused = new Map<
    string,
    { readonly at: number; readonly until: number; readonly times: number }
  >()
  #hadToken = false
  requests = 0

  constructor(
    name: string,
    clock: Clock,
    { renewBefore, maxWait }: { readonly renewBefore: number | undefined; readonly maxWait: number },
    violated: (what: string) => void,
  ) {
    this.name = name
    this.#clock = clock
    this.#renewBefore = renewBefore
    this.#maxWait = maxWait
    this.#violated = (what) => violated(`${what} (issuer ${name})`)
  }

  get failing(): boolean {
    return this.#failure !== undefined
  }

  get busy(): boolean {
    return this.#open > 0
  }

  get current(): Issued | undefined {
    return this.#current?.issued
  }

  /** Whether this is the token before the current one, which an API gets that has refused the current one. */
  isOld(token: Issued): boolean {
    return this.#current !== undefined && this.#old?.issued === token
  }

  get state(): 'none' | 'live' | 'expired' {
    if (this.#current === undefined) return 'none'
    return this.#left(this.#current) > 0 ? 'live' : 'expired'
  }

  /** Whether there has been a token to send, for longer than this moment. */
  get usable(): boolean {
    return this.state === 'live' && (this.#current?.since ?? Infinity) < this.#clock.monotonic
  }

  /** Milliseconds until the token is over, by the clock that leaves less. */
  get left(): number {
    return this.#current === undefined ? 0 : Math.max(0, this.#left(this.#current))
  }

  /** A token request arrives. */
  requested(secret: string): void {
    const now = this.#clock.monotonic
    this.requests += 1
    this.#open += 1
    if (this.#open > 1) this.#violated('invariant 1: two token requests at once')
    if (!this.#isDue()) this.#violated('invariant 3: a token request without a need')
    if (now < (this.#refused.get(secret)?.until ?? 0))
      this.#violated('invariant 3: a refused secret was tried again')
    if (!this.#wasRefused) this.#mustBeSpaced(now)
    this.#wasRefused = false
    this.#failures = this.#failures.filter((at) => at > now - mostFailures.within)
    if (this.#failures.length > mostFailures.number) this.#violated('invariant 3: a storm of failures')
    this.#issued = undefined
    this.#retryAfter = undefined
  }

  /** It is over, whatever became of it. */
  ended(): void {
    this.#open -= 1
  }

  answeredWith(token: Issued): void {
    this.#issued = token
    this.#hadToken = true
    this.#refused.clear()
  }

  /** It failed; the answer asked for a pause of n milliseconds. */
  failed(retryAfter?: number): void {
    this.#failures.push(this.#clock.monotonic)
    this.#retryAfter = retryAfter
  }

  refused(secret: string): void {
    this.#wasRefused = true
    const at = this.#clock.monotonic
    const before = this.#refused.get(secret)
    const times = before === undefined || before.at <= at - 2 * refusalMemory ? 0 : before.times
    const first = times === 0 || !this.#hadToken ? firstMemories[times] : undefined
    this.#refused.set(secret, { at, until: at + (first ?? refusalMemory) - 1, times: times + 1 })
  }

  /** Before a clock is set: what is due now stays so. */
  note(): void {
    if (this.#current === undefined) return
    this.#current.wasDue = this.#isDue()
    this.#current.hadToWait ||= this.#mustWait()
  }

  observed(event: TokenlaneEvent): void {
    const now = this.#clock.monotonic
    if (event.type === 'token.renewed') this.#renewed(event, now)
    if (event.type === 'token.rejected') this.#drop()
    if (event.type === 'renewal.failed') {
      const asked = this.#retryAfter
      const least = asked === undefined ? leastRetry : Math.min(Math.max(asked, 250), longestRetryAfter)
      if (event.retryIn < least) this.#violated(`invariant 3: retry in ${event.retryIn} of ${least} ms`)
      // what fails next may be the provider, to which nothing responded
      this.#retryAfter = undefined
      const refused = event.code === 'TOKEN_REQUEST_REFUSED'
      this.#failure = { until: now + event.retryIn - 1, refused, asked: (asked ?? 0) >= leastTry }
    }
  }

  /** A call goes out with this token. */
  sent(token: Issued): void {
    const now = this.#clock.monotonic
    const current = this.#current
    if (current?.issued === token) {
      if (this.#left(current) <= 0) this.#violated('invariant 2: an expired token was sent')
      // one that may end on the way is only for those who cannot have a better one
      else if (this.#mustWait() && !this.failing && current.since < now)
        this.#violated('invariant 2: an old token was sent, though nothing kept it from being renewed')
    } else if (this.#old?.issued === token && this.#left(this.#old) > floorOf(this.#old)) return
    else if (this.#former?.token !== token || this.#former.until < now)
      this.#violated('invariant 2: a token was sent that is not the current one')
  }

  #renewed({ duration, expiresAt }: Extract<TokenlaneEvent, { type: 'token.renewed' }>, now: number): void {
    const issued = this.#issued
    if (issued === undefined) return this.#violated('invariant 2: a token from nowhere')
    const start = now - duration
    const wallEnd = expiresAt.getTime()
    const { wall, monotonic } = issued.requested
    if (
      start > monotonic + 0.001 ||
      wallEnd > wall + this.#clock.setBackSince(start) + issued.lifetime + 0.001
    )
      this.#violated('invariant 2: the lifetime is not counted from the start of the request')
    this.#old = this.#current ?? this.#old
    this.#drop()
    this.#current = {
      issued,
      wallEnd,
      monotonicEnd: start + issued.lifetime,
      since: now,
      wasDue: false,
      hadToWait: false,
    }
    this.#failure = undefined
    this.#failures = []
    this.#hurried = false
  }

  #drop(): void {
    const token = this.current
    this.#former = token && { token, until: this.#clock.monotonic }
    this.#current = undefined
  }

  #mustBeSpaced(now: number): void {
    const failure = this.#failure
    if (failure === undefined || now >= failure.until) {
      this.#hurried = false
      return
    }
    // another secret: that it is not the refused one was seen to above
    if (failure.refused) return
    const waits = this.#mustWait() || this.#current?.hadToWait === true
    const tooLong = failure.until - now + leastTry >= this.#maxWait
    if (this.#hurried || failure.asked || !waits || !tooLong)
      this.#violated('invariant 3: failures not spaced')
    this.#hurried = true
  }

  #left({ wallEnd, monotonicEnd }: Held): number {
    return Math.min(wallEnd - this.#clock.wall, monotonicEnd - this.#clock.monotonic)
  }

  #isDue(): boolean {
    const held = this.#current
    if (held === undefined || held.wasDue) return true
    const { lifetime } = held.issued
    const ahead = Math.min(this.#renewBefore ?? lifetime / 10, lifetime / 2)
    return this.#left(held) <= Math.max(ahead, floorOf(held))
  }

  #mustWait(): boolean {
    const held = this.#current
    return held === undefined || this.#left(held) <= floorOf(held)
  }
}

function floorOf({ issued }: Held): number {
  return Math.min(10_000, issued.lifetime / 40)
}
