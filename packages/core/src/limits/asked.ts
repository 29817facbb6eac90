import type { Demand } from './demand.ts'
import type { Claim, NotBefore, Permit, RateLimiter } from './rate-limiter.ts'

/** For so many kinds of calls units are asked for; then those that wait no more are sorted out. */
const most = 1_000

/** What a limiter was asked for: it goes on to get units for that, which others go without, until it is told that none waits. */
export class Asked {
  readonly #limiter: Pick<RateLimiter, 'take'>
  /** By the key of what the calls take. */
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

  /** No call waits any more that takes this, or none of a kind that is not `wanted`. */
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
