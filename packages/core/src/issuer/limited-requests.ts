import type { Emit } from '../events.ts'
import type { Budget, BudgetQueue } from '../limits/budget.ts'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import type { CheckedPolicy } from '../limits/rate-policy.ts'
import type { Unit } from '../limits/restraint.ts'
import { type BudgetFactory, budgetsOf, type SharedBudgets, sharedBudgets } from '../limits/shared-budgets.ts'
import { has } from '../options/check.ts'
import { failure } from './issuer-failure.ts'
import type { TokenEndpoint } from './protocol.ts'
import type { ClientTokenSource } from './token-source.ts'

/** Calls may come to wait for a request of the background, and a shared limiter may not know for how long, in milliseconds. */
const longestPause = 1_000

interface IssuerBudgets extends SharedBudgets {
  readonly create: BudgetFactory
  /** What uses them and may end. */
  readonly users: Set<object>
}

/** Those of all managers of this process that have this limiter, or none. */
const known = new WeakMap<object, IssuerBudgets>()

/**
 * Queues token requests under a rate policy, with those of every manager of this process that asks the same endpoint, and
 * of every process that shares the limiter. A limiter ends with its last manager; what this process's memory holds does not.
 */
export function limitedRequests(
  issuing: ClientTokenSource,
  endpoint: TokenEndpoint,
  policy: CheckedPolicy,
  { limiter, emit }: { readonly limiter: RateLimiterFactory | undefined; readonly emit: Emit },
): ClientTokenSource {
  const owner = limiter ?? known
  const budgets = known.get(owner) ?? {
    ...sharedBudgets(),
    create: budgetsOf(limiter, true),
    users: new Set(),
  }
  known.set(owner, budgets)
  // it may be forgotten between two requests
  const budgetOf = (): Budget => budgets.budgetOf(endpoint.url.href, policy, budgets.create)
  budgetOf()
  if (limiter) budgets.users.add(issuing)

  return {
    ...issuing,
    async idle() {
      if (!budgets.users.delete(issuing) || budgets.users.size > 0) return
      known.delete(owner)
      await budgets.close()
    },
    async obtain(client, reason, wait, memory) {
      const budget = budgetOf()
      const demand = budget.claims.demands.of({ method: 'POST', url: endpoint.url }, policy)
      const due = Promise.withResolvers<void>()
      let unit: Unit | undefined
      const request: BudgetQueue = {
        policy,
        emit,
        serve() {
          if (unit !== undefined) return
          const taken = budget.take(request, demand, performance.now(), 1)
          if (has(taken, 'cause')) return
          unit = taken
          due.resolve()
        },
      }
      budget.join(request)
      try {
        for (;;) {
          request.serve()
          if (unit !== undefined) return await issuing.obtain(client, reason, wait, memory)
          const left = Math.ceil(budget.forecast(request, 1, demand))
          if (left >= wait.timeLeft) {
            const trouble = budget.failure && `; the shared rate budget failed (${budget.failure})`
            const why = `may not be asked yet, by its rate policy${trouble}`
            throw failure(endpoint, 'TOKEN_REQUEST_FAILED', why, { retryAfter: left })
          }
          await wait.pause(Math.min(left || longestPause, longestPause), due.promise)
        }
      } finally {
        if (unit !== undefined) {
          // each request counts, whatever came of it: a busy issuer is asked less by other means
          budget.responded(request, unit, { status: 200 })
          budget.ended(unit, true)
        }
        await budget.leave(request)
      }
    },
  }
}
