import type { RemainingQuota } from '@tokenlane/core/fleet'
import type { Answer, Message } from './protocol.ts'

interface Report {
  readonly remaining: number
  readonly resetAt: number
  readonly at: number
}

/** What Redis said last of the budget of all processes. */
interface Level {
  readonly used: number
  readonly left: number
  readonly soonestAt: number
  readonly asks: boolean
  readonly at: number
}

/** APIs write whole seconds, so a reset may come that much earlier, in milliseconds. */
const rounding = 1_000
/** What a response says is news where less than this part remains of what Redis knows to be left. */
const muchLess = 0.5

/**
 * How full the budget is: as Redis said last, for as long as a window, and as the API said since.
 *
 * What the API says goes to Redis with the next message. Only where Redis would grant far more than that is it worth a
 * message of its own: a Redis that knows already grants nothing.
 */
export class BudgetLevel {
  #level: Level | undefined
  #report: Report | undefined
  #said: Report | undefined

  /** Takes what a response says; returns whether Redis must hear of it soon. */
  report({ remaining, resetIn }: RemainingQuota, now: number, span: number): boolean {
    this.#report = { remaining: Math.floor(remaining), resetAt: now + resetIn, at: now }
    const level = this.#at(now, span)
    if (level === undefined) return remaining < 1
    const isLater = remaining < 1 && now + resetIn > Math.max(now, level.soonestAt) + rounding
    return level.asks || isLater || remaining < muchLess * level.left
  }

  /** Returns what a message that leaves at `now` says. */
  say(now: number): Message['reported'] {
    const report = (this.#said = this.#report)
    if (report === undefined || report.resetAt <= now) return []
    return [report.remaining, report.resetAt - now, now - report.at]
  }

  hear({ used, left, soonest, asks }: Answer, now: number): void {
    // a report that came while the message was under way stays
    if (this.#report === this.#said) this.#report = undefined
    this.#level = { used, left, soonestAt: now + soonest, asks, at: now }
  }

  /** Returns the part of the fullest limit that is in use; `undefined` if Redis has said nothing for a window. */
  used(now: number, span: number): number | undefined {
    return this.#at(now, span)?.used
  }

  /** Returns how many units are free; `undefined` if Redis has said nothing for a window. */
  left(now: number, span: number): number | undefined {
    return this.#at(now, span)?.left
  }

  #at(now: number, span: number): Level | undefined {
    return this.#level !== undefined && now - this.#level.at < span ? this.#level : undefined
  }
}
