import type { Emit } from '../events.ts'
import { readPolicy, type RemainingQuota, type ResponseHead } from './rate-limit-headers.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { RateLimit } from './rate-policy.ts'

/** APIs write whole seconds, so a reset may come that much earlier, in milliseconds. */
const rounding = 1_000

/**
 * Counts down how many more calls an API accepts until its reset, from what its last response said.
 *
 * An API that keeps the configured policy and has no other client never accepts fewer calls than the limiter allows.
 * Such reports are ignored: whole-second resets are coarser than the limiter's own clock.
 */
export class ReportedRemaining {
  #remaining = Infinity
  #resetAt = Number.NEGATIVE_INFINITY
  /** Order of the call whose response counted last. */
  #reporter = 0

  /**
   * Reads what the response to a call reports. The API counted that call before those that were sent after it.
   *
   * @param sent how many calls were sent until now.
   * @returns whether the API accepts a call now; `undefined` for a response that is older than one before.
   */
  read(
    { remaining, resetIn }: RemainingQuota,
    order: number,
    sent: number,
    limiter: RateLimiter,
  ): boolean | undefined {
    if (order < this.#reporter) return undefined
    this.#reporter = order
    const left = remaining - (sent - order)
    // a shared limiter compares with what all processes sent
    const allowed = limiter.reported === undefined ? limiter.unitsLeft?.() : undefined
    const isFewer = allowed !== undefined && allowed > left
    const isLater = resetIn > limiter.forecast(1, 0) + rounding
    this.#remaining = isFewer || isLater ? left : Infinity
    this.#resetAt = performance.now() + resetIn
    return left > 0
  }

  sent(): void {
    this.#remaining -= 1
  }

  /** Milliseconds until the reset if the API accepts no call before it, otherwise 0. */
  get usedUpFor(): number {
    return this.#remaining > 0 ? 0 : Math.max(0, this.#resetAt - performance.now())
  }

  clear(): void {
    this.#remaining = Infinity
  }
}

/** Headers that differ from call to call must not make events without end. */
const mostReported = 16

/** Emits `policy.differs` once per distinct policy that an API's headers name and that differs from the configured one. */
export class PolicyWatch {
  readonly #api: string
  readonly #emit: Emit
  readonly #reported = new Set<string>()

  constructor(api: string, emit: Emit) {
    this.#api = api
    this.#emit = emit
  }

  read(response: ResponseHead, configured: readonly RateLimit[]): void {
    if (!this.#emit?.isObserved || this.#reported.size >= mostReported) return
    const seen = readPolicy(response)
    const differing = seen.filter((limit) => !configured.some((other) => isSame(limit, other)))
    const key = differing.map(({ quota, window }) => `${quota}/${window}`).join()
    if (differing.length === 0 || this.#reported.has(key)) return
    this.#reported.add(key)
    this.#emit({ type: 'policy.differs', api: this.#api, configured, seen })
  }

  /** Reports all differences again, because the configured policy has changed. */
  clear(): void {
    this.#reported.clear()
  }
}

function isSame(a: RateLimit, b: RateLimit): boolean {
  return a.quota === b.quota && a.window === b.window
}
