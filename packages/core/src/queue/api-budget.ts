import { refuse } from '../options/check.ts'
import { ApiPauses, type SentCall } from './api-pauses.ts'
import type { Budget, SpentUnit } from './budget.ts'
import { limiterFor, type LimiterChoice } from './limiter-factory.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { NotBefore, Permit, RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import { ReportedLimits } from './reported-limits.ts'

/** The budget of one API: its limiter, its pauses, and what its responses report of its limits. */
export class ApiBudget implements Budget {
  readonly #limiter: RateLimiter
  readonly #pauses: ApiPauses
  readonly #reported: ReportedLimits
  /** Whether a limiter of the application's keeps the units, such as one on Redis. */
  readonly #isKeptElsewhere: boolean

  /** @param serve is called when calls may go again, though none has ended. */
  constructor(options: LimiterChoice, serve: () => void) {
    const { api, policy, emit } = options
    this.#isKeptElsewhere = options.limiter !== undefined
    this.#limiter = limiterFor(options, {
      unitsAvailable: serve,
      paused: (ms) => this.#pauses.pauseFor(ms),
      resumed: () => {
        this.#pauses.resumed()
        serve()
      },
    })
    this.#pauses = new ApiPauses(api, policy, this.#limiter, emit)
    this.#reported = new ReportedLimits(api, policy, this.#pauses, emit)
  }

  get pausedUntil(): number {
    return this.#pauses.until
  }

  get isUnspent(): boolean {
    const isUsed = !this.#isKeptElsewhere && (this.#limiter.used?.() ?? 0) > 0
    return !isUsed && this.#pauses.until <= performance.now()
  }

  get nextOrder(): number {
    return this.#pauses.nextOrder
  }

  pausedFor(now: number): number {
    return this.#pauses.wait(now)
  }

  take(couldUse: number): Permit | NotBefore {
    return this.#limiter.take(couldUse)
  }

  sent(call: SentCall): void {
    this.#pauses.sent(call)
  }

  answered(call: SpentUnit, response: ResponseHead): boolean {
    call.permit.answered()
    const isRefused = this.#pauses.answered(call, response)
    this.#reported.answered(call, response, isRefused)
    return isRefused
  }

  left(call: SpentUnit, sent: boolean): void {
    if (sent) call.permit.ended()
    else call.permit.cancel()
    this.#pauses.left(call, sent)
  }

  forecast(ahead: number, roundTrip: number, from?: number): number {
    return this.#limiter.forecast(ahead, roundTrip, from)
  }

  used(): number | undefined {
    return this.#limiter.used?.()
  }

  unitsLeft(): number | undefined {
    return this.#limiter.unitsLeft?.()
  }

  resume(): void {
    this.#pauses.resume()
  }

  setPolicy(policy: CheckedPolicy): void {
    if (this.#limiter.setPolicy === undefined)
      refuse('limiter().setPolicy', 'missing', 'a function, where a rate policy is changed at run time')
    this.#limiter.setPolicy(policy)
    this.#pauses.policy = policy
    this.#reported.policy = policy
  }

  noWaiters(): void {
    this.#limiter.noWaiters?.()
  }

  async close(): Promise<void> {
    await this.#limiter.close?.()
  }
}
