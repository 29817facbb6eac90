import { Budget } from './budget.ts'
import { commonLimiter } from './common-limiter.ts'
import type { RateLimiterFactory } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'

export type BudgetFactory = (api: string, policy: CheckedPolicy) => Budget

/**
 * Returns a factory of budgets for APIs that share named limits.
 *
 * @param limiter that of a manager's options. @param areKept whether they outlive their queues. @param common keeps the
 * units of named limits.
 */
export function budgetsOf(
  limiter: RateLimiterFactory | undefined,
  areKept = false,
  common: RateLimiterFactory = commonLimiter(limiter),
): BudgetFactory {
  return (api, policy) => {
    const isNamed = policy.limits.some(({ name }) => name !== undefined)
    return new Budget(api, policy, isNamed ? common : limiter, areKept)
  }
}

export interface SharedBudgets {
  /** @param create - makes a budget that outlives its queues. */
  budgetOf(api: string, policy: CheckedPolicy, create: BudgetFactory): Budget
  /** Ends the limiters, after the last call of the last tenant. */
  close(): Promise<void>
}

/**
 * Keeps one budget for all managers whose APIs have the same base URL and the same limits. It is forgotten once nobody uses
 * it and a new one would allow as much.
 */
export function sharedBudgets(): SharedBudgets {
  const budgets = new Map<string, Budget>()

  function forgetUnused(): void {
    // now and then
    if (budgets.size % 16 !== 0) return
    for (const [key, budget] of budgets) {
      if (!budget.isUnused) continue
      budgets.delete(key)
      void budget.close()
    }
  }

  return {
    budgetOf(api, policy, create) {
      const { limits, spread, accounting, unansweredGrace } = policy
      // the rest of a policy is each manager's own
      const key = JSON.stringify([api, limits, spread, accounting, unansweredGrace])
      const known = budgets.get(key)
      if (known !== undefined) return known
      forgetUnused()
      const budget = create(api, policy)
      budgets.set(key, budget)
      return budget
    },
    async close() {
      await Promise.all(Array.from(budgets.values(), (budget) => budget.close()))
    },
  }
}
