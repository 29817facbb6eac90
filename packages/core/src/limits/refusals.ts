import { backoff } from '../time/backoff.ts'
import { Countdown } from '../time/countdown.ts'
import { type CheckedPolicy, lengthOf } from './rate-policy.ts'

/** The pause if the API does not say for how long, and if it refuses few of many calls. */
const unaskedPause = { first: 1_000, most: 60_000 }
const lightPause = 100
const fewRefused = 1 / 10
/** The shortest pause that an API can ask for. */
const leastAsked = 250
/** After this many refusals in a row a pause lasts as long as the longest window, and after one more a call is given up. */
const mostRefusals = 3
/** `accounting: 'learned'` learns from this many refusals within this many rounds of the quota. One more means wrong limits. */
const mostLessons = 2
const lessonRounds = 10

/** Refusals in a row: without an accepted call between them. Calls that were sent together count once. */
interface RefusalRow {
  count: number
}

/** The first refusal of a call since the API last accepted one. */
export interface Refusal {
  readonly row: RefusalRow
  /** How many there had been in the row, this one included. */
  readonly before: number
  /** How long it may be refused, where the policy says so. */
  readonly countdown: Countdown | undefined
}

export interface RefusedCall {
  /** Its first refusal since the API last accepted a call. */
  refusal: Refusal | undefined
}

/** How long an API that refuses calls is left alone, and when a refused call is given up. */
export class Refusals {
  #row: RefusalRow = { count: 0 }
  /** How many calls had been sent at the last refusal. */
  #order = 0
  /** How many calls had been sent at each refusal of the last rounds. The start counts as one. */
  #lessons = [0]
  /** Whether the API refused few of many calls, and is only left alone for a moment. */
  isLight = false
  #wasLight = false
  /** Whether the last refusal only taught the limiter. */
  isLesson = false
  /** Whether the API has accepted a call since. */
  areOver = true

  get count(): number {
    return this.#row.count
  }

  /**
   * Whether a refused call is given up: the API has accepted none since it refused the call first, and for long. `pause`:
   * how long none may be sent.
   */
  givesUp(call: RefusedCall, pause: number, maxWait: number | undefined): boolean {
    if (call.refusal?.row === this.#row) return this.isInVain(call, pause, maxWait)
    call.refusal?.countdown?.stop()
    const countdown = maxWait === undefined ? undefined : new Countdown(maxWait)
    call.refusal = { row: this.#row, before: this.#row.count, countdown }
    return maxWait !== undefined && pause > maxWait
  }

  /** Whether a call that waits after a refusal would be sent too late, or too often. */
  isInVain({ refusal }: RefusedCall, pause: number, maxWait: number | undefined): boolean {
    if (refusal?.row !== this.#row) return false
    const { before, countdown } = refusal
    if (maxWait !== undefined) return (countdown?.spent ?? 0) + pause > maxWait
    return this.#row.count >= before + mostRefusals
  }

  /** Whether a call with this order was sent after the last refusal. */
  isAfter(order: number): boolean {
    return order > this.#order
  }

  /**
   * Counts a refused call, unless it follows a light pause. `sent` calls had been sent. Returns whether it was sent after the
   * last refusal.
   */
  refused(order: number, sent: number, isLower: boolean, policy: CheckedPolicy): boolean {
    this.areOver = false
    this.#wasLight = this.isLight
    if (!this.isAfter(order)) return false
    if (!this.isLight) this.#row.count += 1
    this.#order = sent
    this.isLesson = policy.accounting === 'learned' && this.#mayLearn(order, sent, policy) && !isLower
    return true
  }

  /**
   * @param asked what it asks for. @param share how many of the last calls it refused, from 0 to 1.
   */
  pause(asked: number, share: number, isNew: boolean, policy: CheckedPolicy): number {
    const mayBeLight = isNew ? !this.#wasLight && this.#row.count === 1 : this.#wasLight
    this.isLight = mayBeLight && asked < leastAsked && share < fewRefused
    return asked < leastAsked ? Math.max(asked, this.#backoff(policy)) : asked
  }

  accepted(order: number): void {
    if (order <= this.#order) return
    if (this.#row.count > 0) this.end()
    this.isLight = false
    this.areOver = true
  }

  end(): void {
    this.#row = { count: 0 }
  }

  hear(count: number, sent: number): void {
    this.#row.count = count
    this.#order = sent
    this.areOver = false
  }

  /** Whether a refusal only teaches the limiter: then there is neither a trial call nor another pace. */
  #mayLearn(order: number, sent: number, { limits }: CheckedPolicy): boolean {
    const round = Math.max(0, ...limits.map(({ quota }) => quota))
    this.#lessons = this.#lessons.filter((at) => order <= at + lessonRounds * round)
    const isRare = this.#lessons.length < mostLessons
    this.#lessons.push(sent)
    return isRare
  }

  #backoff({ limits }: CheckedPolicy): number {
    const windows = limits.map(({ window }) => lengthOf(window))
    if (this.isLight) return Math.max(lightPause, ...windows.filter((window) => window < unaskedPause.first))
    const ms = backoff(this.#row.count, unaskedPause)
    return this.#row.count < mostRefusals ? ms : Math.max(ms, ...windows)
  }
}
