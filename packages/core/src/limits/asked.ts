import type { Demand } from './demand.ts'
import type { Claim, NotBefore, Permit, RateLimiter } from './rate-limiter.ts'

/** Units are asked for at most this many kinds of calls; then those that wait no more are removed. */
const most = 1_000

/** What a limiter was asked for: it reserves units for these calls until it hears that none of them waits. */
export class Asked {
  readonly #limiter: Pick<RateLimiter, 'take'>
  readonly #claims = new Map<string, Claim>()

  constructor(limiter: Pick<RateLimiter, 'take'>) {
    this.#limiter = limiter
  }

  take({ key }: Demand, claim: Claim, wanted: number): Permit | NotBefore {
    const before = this.#claims.get(key)
    if (before !== claim) {
      // other limits hold than before
      if (before?.key !== claim.key) this.#withdraw(key)
      if (this.#claims.size >= most) this.withdraw()
      this.#claims.set(key, claim)
    }
    return this.#limiter.take(claim, wanted)
  }

  /** No call of this kind waits any more, or only calls of `wanted` kinds do. */
  withdraw(demand?: Demand, wanted: (key: string) => boolean = () => false): void {
    for (const key of demand === undefined ? this.#claims.keys() : [demand.key])
      if (!wanted(key)) this.#withdraw(key)
  }

  #withdraw(key: string): void {
    const claim = this.#claims.get(key)
    this.#claims.delete(key)
    if (claim !== undefined) this.#limiter.take(claim, 0)
  }
}
