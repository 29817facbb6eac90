import type { ApiPauses, SentCall } from './api-pauses.ts'
import type { Emit } from '../events.ts'
import { PolicyWatch } from './policy-watch.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { CheckedPolicy } from './rate-policy.ts'

/** After 16 responses in a row without a rate limit header, only one response in 16 is looked at. */
const mostSilent = 16

/**
 * Reads what the API says of its limits: what remains pauses the queue, another policy is reported.
 *
 * Not in every response: each lookup of a header takes 0.13 µs with `fetch`, and most APIs send none.
 */
export class ReportedLimits {
  readonly #pauses: ApiPauses
  readonly #watch: PolicyWatch
  #isRead: boolean
  #silentInRow = 0

  constructor(api: string, { limits, rateLimitHeaders }: CheckedPolicy, pauses: ApiPauses, emit: Emit) {
    this.#pauses = pauses
    this.#watch = new PolicyWatch(api, limits, emit)
    this.#isRead = rateLimitHeaders
  }

  /** Compares with another policy from now on. */
  set policy({ limits, rateLimitHeaders }: CheckedPolicy) {
    this.#watch.configured = limits
    this.#isRead = rateLimitHeaders
  }

  answered(call: SentCall, response: ResponseHead, isRefused: boolean): void {
    const isDue = isRefused || this.#silentInRow < mostSilent || call.order % mostSilent === 0
    if (!isDue || !this.#isRead) return
    const saysWhatRemains = this.#pauses.readRemaining(call, response)
    const namesPolicy = this.#watch.readPolicy(response)
    this.#silentInRow = saysWhatRemains || namesPolicy ? 0 : this.#silentInRow + 1
  }
}
