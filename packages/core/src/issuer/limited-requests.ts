import type { Emit } from '../events.ts'
import type { Budget, BudgetQueue } from '../limits/budget.ts'
import type { Demand } from '../limits/demand.ts'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import type { CheckedPolicy } from '../limits/rate-policy.ts'
import type { Unit } from '../limits/restraint.ts'
import { budgetsOf, sharedBudgets } from '../limits/shared-budgets.ts'
import { has } from '../options/check.ts'
import { failure } from './issuer-failure.ts'
import type { TokenEndpoint } from './protocol.ts'
import type { ClientTokenSource } from './token-source.ts'

/** For all managers of this process. */
const budgets = sharedBudgets()

/**
 * Queues token requests under a rate policy, with those of every manager of this process that asks the same endpoint, and
 * of every process that shares the limiter.
 */
export function limitedRequests(
  issuing: ClientTokenSource,
  endpoint: TokenEndpoint,
  policy: CheckedPolicy,
  { limiter, emit }: { readonly limiter: RateLimiterFactory | undefined; readonly emit: Emit },
): ClientTokenSource {
  const budget = budgets.budgetOf(endpoint.url.href, policy, budgetsOf(limiter, true))

  return {
    ...issuing,
    async obtain(client, reason, wait, memory) {
      const request = new Turn(budget, policy, emit, endpoint.url)
      try {
        while (!request.isDue) {
          const left = request.left
          if (left >= wait.timeLeft) {
            const why = 'may not be asked again yet, by its rate policy'
            throw failure(endpoint, 'TOKEN_REQUEST_FAILED', why, { retryAfter: left })
          }
          await wait.pause(left, request.due())
        }
        return await issuing.obtain(client, reason, wait, memory)
      } finally {
        await request.end()
      }
    },
  }
}

class Turn implements BudgetQueue {
  readonly policy: CheckedPolicy
  readonly emit: Emit
  readonly #budget: Budget
  readonly #demand: Demand
  #unit: Unit | undefined
  #called: (() => void) | undefined

  constructor(budget: Budget, policy: CheckedPolicy, emit: Emit, url: URL) {
    this.policy = policy
    this.emit = emit
    this.#budget = budget
    this.#demand = budget.claims.demands.of({ method: 'POST', url }, policy)
    budget.join(this)
  }

  get isDue(): boolean {
    if (this.#unit === undefined) this.serve()
    return this.#unit !== undefined
  }

  get left(): number {
    return Math.max(1, this.#budget.forecast(this, 1, this.#demand))
  }

  due(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#called = resolve
    return promise
  }

  serve(): void {
    if (this.#unit !== undefined) return
    const taken = this.#budget.take(this, this.#demand, performance.now(), 1)
    if (has(taken, 'cause')) return
    this.#unit = taken
    this.#called?.()
  }

  /** Each request counts, whatever came of it. A busy issuer is asked less by other means. */
  async end(): Promise<void> {
    if (this.#unit !== undefined) {
      this.#budget.responded(this, this.#unit, { status: 200 })
      this.#budget.ended(this.#unit, true)
    }
    await this.#budget.leave(this)
  }
}
