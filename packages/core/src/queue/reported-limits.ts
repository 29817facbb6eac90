import type { ApiPauses, SentCall } from './api-pauses.ts'
import type { PolicyWatch } from './policy-watch.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { RateLimit } from './rate-policy.ts'

/** After so many responses in a row without a rate limit header only one in so many is looked at. */
const mostSilent = 16

/**
 * Reads what the API says of its limits: what remains pauses the queue, another policy is reported.
 *
 * Not in every response: each lookup of a header takes 0.13 µs with `fetch`, and most APIs send none.
 */
export class ReportedLimits {
  readonly #watch: PolicyWatch
  readonly #pauses: ApiPauses
  #silentInRow = 0

  constructor(watch: PolicyWatch, pauses: ApiPauses) {
    this.#watch = watch
    this.#pauses = pauses
  }

  /** Compares with another policy from now on. */
  set configured(limits: readonly RateLimit[]) {
    this.#watch.configured = limits
  }

  answered(call: SentCall, response: ResponseHead, isRefused: boolean): void {
    const isDue = this.#silentInRow < mostSilent || call.order % mostSilent === 0
    if (!isDue && !isRefused) return
    const saysWhatRemains = this.#pauses.readRemaining(call, response)
    const namesPolicy = this.#watch.readPolicy(response)
    this.#silentInRow = saysWhatRemains || namesPolicy ? 0 : this.#silentInRow + 1
  }
}
