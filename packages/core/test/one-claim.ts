import type { Answer, Claim, LimiterClock, NotBefore, Permit } from '../src/fleet.ts'
import type { RateLimit } from '../src/index.ts'
import { createRateLimiter } from '../src/limits/memory-limiter.ts'

/** What is limited, for every call. */
export interface OneClaim {
  readonly limits: readonly RateLimit[]
  readonly spread?: boolean
  readonly accounting?: Claim['accounting']
  readonly unansweredGrace?: number | undefined
  readonly cost?: number
}

/** A limiter in memory of which every call takes the same. */
export interface OneLimiter {
  take(wanted: number): OnePermit | NotBefore
  forecast(ahead: number, lag: number, from?: number): number
  used(): number
  unitsLeft(): number
  setPolicy(policy: OneClaim): void
}

export interface OnePermit extends Permit {
  answered(response?: Answer): void
}

export function oneLimiter(policy: OneClaim, clock?: LimiterClock): OneLimiter {
  const limiter = createRateLimiter(clock)
  let claim = claimOf(policy)
  const used = (): readonly number[] => limiter.usage(claim).used ?? []
  return {
    take(wanted) {
      const permit = limiter.take(claim, wanted)
      if (typeof permit === 'number') return permit
      const { cost } = claim
      return Object.assign(permit, {
        answered: (
          (answered) =>
          (response: Answer = { isRefused: false, cost }) =>
            answered(response)
        )(permit.answered.bind(permit)),
      })
    },
    forecast: (ahead, lag, from) => limiter.forecast(claim, ahead, lag, from),
    used: () => Math.max(0, ...claim.limits.map(({ quota }, index) => (used()[index] ?? 0) / quota)),
    unitsLeft: () => Math.min(...claim.limits.map(({ quota }, index) => quota - (used()[index] ?? 0))),
    setPolicy(other) {
      claim = claimOf(other)
    },
  }
}

function claimOf({
  limits,
  spread = false,
  accounting = 'strict',
  unansweredGrace,
  cost = 1,
}: OneClaim): Claim {
  return {
    key: '',
    cost,
    limits: limits.map((limit) => ({ series: '', ...limit })),
    interval: spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0,
    accounting,
    unansweredGrace,
  }
}
