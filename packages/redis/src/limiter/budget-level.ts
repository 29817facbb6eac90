import type { RemainingQuota } from '@tokenlane/core/fleet'
import type { BudgetResponse, BudgetRequest } from './protocol.ts'

interface Report {
  readonly remaining: number
  readonly resetAt: number
  readonly at: number
  readonly took: number
}

/** The budget of all processes, by the last response of Redis. */
interface Level {
  readonly used: number
  readonly left: number
  readonly soonestAt: number
  readonly asks: boolean
  readonly at: number
}

/** By how much a reset may come earlier than the API says, because headers have whole seconds, in milliseconds. */
const rounding = 1_000
/** A response of the API is worth a request if it leaves less than this part of what Redis knows to be left. */
const muchLess = 0.5

/**
 * How full the budget is: by the last response of Redis, for one window, and by what the API said since.
 *
 * What the API says is reported with the next request. It is worth a request of its own where Redis would grant far more
 * than that, or has asked for it.
 */
export class BudgetLevel {
  #level: Level | undefined
  #report: Report | undefined
  #sent: Report | undefined

  /** Takes what a response of the API says that took `took` milliseconds; returns whether it is worth a request to Redis. */
  note({ remaining, resetIn }: RemainingQuota, now: number, span: number, took: number): boolean {
    this.#report = { remaining: Math.floor(remaining), resetAt: now + resetIn, at: now, took }
    const level = this.#at(now, span)
    if (level === undefined) return remaining < 1
    const isLater = remaining < 1 && now + resetIn > Math.max(now, level.soonestAt) + rounding
    return level.asks || isLater || remaining < muchLess * level.left
  }

  /** Returns what a request that leaves at `now` reports. */
  report(now: number): BudgetRequest['reported'] {
    const report = (this.#sent = this.#report)
    if (report === undefined || report.resetAt <= now) return []
    return [report.remaining, report.resetAt - now, now - report.at, report.took]
  }

  update({ used, left, soonest, asks }: BudgetResponse, now: number): void {
    // what the API said while the request was under way stays
    if (this.#report === this.#sent) this.#report = undefined
    this.#level = { used, left, soonestAt: now + soonest, asks, at: now }
  }

  /** Returns the part of the fullest limit that is in use; `undefined` if Redis has not responded for a window. */
  used(now: number, span: number): number | undefined {
    return this.#at(now, span)?.used
  }

  /** Returns how many units are free; `undefined` if Redis has not responded for a window. */
  left(now: number, span: number): number | undefined {
    return this.#at(now, span)?.left
  }

  #at(now: number, span: number): Level | undefined {
    return this.#level !== undefined && now - this.#level.at < span ? this.#level : undefined
  }
}
