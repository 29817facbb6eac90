import type { RemainingQuota } from './rate-limit-headers.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** A call that was sent. */
export interface SentCall {
  /** 1 for the first call to the API, 2 for the next. */
  readonly order: number
  /** On the monotonic clock. */
  readonly sentAt: number
}

/** Why an API is paused: it refused a call for its limit, or said that it accepts no more calls before a reset. */
export type PauseReason = 'refused' | 'used-up'

/** How long other calls wait for the response to the trial call, in milliseconds. */
const longestTrial = 5_000
/** APIs write whole seconds, so a reset may come that much earlier, in milliseconds. */
const rounding = 1_000

/**
 * When an API is paused. After a pause one call is sent on trial; the others follow when its response has arrived.
 *
 * Counts down how many more calls the API accepts until its reset, from what its last response said. An API that keeps
 * the configured policy and has no other client never accepts fewer calls than the limiter allows. Such reports are
 * ignored: whole-second resets are coarser than the limiter's own clock.
 */
export class Pauses {
  readonly #usedUp: (ms: number) => void
  /** On the monotonic clock. */
  readonly #until = { refused: Number.NEGATIVE_INFINITY, 'used-up': Number.NEGATIVE_INFINITY }
  #isTrialDue = false
  #trial: SentCall | undefined
  /** Order of the call that was sent last. */
  #sent = 0
  /** Order of the call whose response counted last. */
  #reporter = 0
  #remaining = Infinity
  #resetAt = Number.NEGATIVE_INFINITY

  /** @param usedUp is called when the API is to be paused because it accepts no call for `ms` milliseconds. */
  constructor(usedUp: (ms: number) => void) {
    this.#usedUp = usedUp
  }

  /** When the pause ends or ended, on the monotonic clock. */
  get until(): number {
    return Math.max(this.#until.refused, this.#until['used-up'])
  }

  /** Returns for how many milliseconds no call may be sent, 0 if one may. A trial call under way counts as a pause. */
  wait(now: number): number {
    if (this.until > now) return this.until - now
    return this.#trial === undefined ? 0 : Math.max(0, this.#trial.sentAt + longestTrial - now)
  }

  begin(ms: number, reason: PauseReason, isTried = true): void {
    this.#until[reason] = Math.max(this.#until[reason], performance.now() + ms)
    if (!isTried) return
    this.#isTrialDue = true
    this.#trial = undefined
  }

  /** Lifts the pause. Calls need no trial, and what the API reported no longer counts. */
  end(): void {
    this.#until.refused = this.#until['used-up'] = Number.NEGATIVE_INFINITY
    this.#isTrialDue = false
    this.#trial = undefined
    this.#remaining = Infinity
  }

  sent(call: SentCall): void {
    this.#sent = call.order
    this.#trial = this.#isTrialDue ? call : undefined
    this.#isTrialDue = false
    this.#remaining -= 1
    this.#pauseIfUsedUp()
  }

  /** Lets the other calls follow a trial call. If it was never sent, the next one is the trial. */
  ended(call: SentCall, wasSent = true): void {
    if (this.#trial !== call) return
    this.#trial = undefined
    this.#isTrialDue = !wasSent
  }

  /**
   * Reads what the response to a call reports; returns whether that lifts a pause. The API counted that call before
   * those that were sent after it.
   */
  reported({ remaining, resetIn }: RemainingQuota, order: number, limiter: RateLimiter): boolean {
    // older than a response before
    if (order < this.#reporter) return false
    this.#reporter = order
    const now = performance.now()
    const wasPaused = this.until > now
    const left = remaining - (this.#sent - order)
    // a shared limiter compares with what all processes sent
    const allowed = limiter.reported === undefined ? limiter.unitsLeft?.() : undefined
    const isFewer = allowed !== undefined && allowed > left
    const isLater = resetIn > limiter.forecast(1, 0) + rounding
    this.#remaining = isFewer || isLater ? left : Infinity
    this.#resetAt = now + resetIn
    // a refusal is not taken back
    if (left > 0) this.#until['used-up'] = Number.NEGATIVE_INFINITY
    this.#pauseIfUsedUp()
    return wasPaused && this.until <= now
  }

  #pauseIfUsedUp(): void {
    if (this.#remaining > 0) return
    this.#remaining = Infinity
    const ms = Math.ceil(this.#resetAt - performance.now())
    if (ms > 0) this.#usedUp(ms)
  }
}
