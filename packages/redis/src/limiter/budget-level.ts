import type { RemainingQuota } from '@tokenlane/core/fleet'
import type { BudgetResponse, BudgetRequest } from './protocol.ts'

interface Report {
  readonly remaining: number
  readonly resetAt: number
  readonly at: number
  readonly took: number
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
  #response: BudgetResponse | undefined
  #respondedAt = Number.NEGATIVE_INFINITY
  #report: Report | undefined
  #sent: Report | undefined

  /** Takes what a response of the API says that took `took` milliseconds; returns whether it is worth a request to Redis. */
  note({ remaining, resetIn }: RemainingQuota, now: number, span: number, took: number): boolean {
    this.#report = { remaining: Math.floor(remaining), resetAt: now + resetIn, at: now, took }
    const response = this.known(now, span)
    if (response === undefined) return remaining < 1
    const soonestAt = Math.max(now, this.#respondedAt + response.soonest)
    const isLater = remaining < 1 && now + resetIn > soonestAt + rounding
    return response.asks || isLater || remaining < muchLess * response.left
  }

  /** Returns what a request that leaves at `now` reports. */
  report(now: number): BudgetRequest['reported'] {
    const report = (this.#sent = this.#report)
    if (report === undefined || report.resetAt <= now) return []
    return [report.remaining, report.resetAt - now, now - report.at, report.took]
  }

  update(response: BudgetResponse, now: number): void {
    // what the API said while the request was under way stays
    if (this.#report === this.#sent) this.#report = undefined
    this.#response = response
    this.#respondedAt = now
  }

  /** Returns the last response of Redis; `undefined` if it is a window old. */
  known(now: number, span: number): BudgetResponse | undefined {
    return now - this.#respondedAt < span ? this.#response : undefined
  }
}
