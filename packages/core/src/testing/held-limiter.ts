import type { LimitedApi } from '../queue/limiter-factory.ts'
import type { RateLimiter } from '../queue/rate-limiter.ts'

/** A limiter without limits, which can be held, and counts what it lets go. */
export class HeldLimiter {
  /** Attempts that went, but for those that were given back unsent. */
  sends = 0
  /** How often it is held at this moment. */
  #holds = 0
  #unitsAvailable: (() => void) | undefined

  /** Returns the limiter of an API. */
  of(api: LimitedApi): RateLimiter {
    this.#unitsAvailable = () => api.unitsAvailable()
    return {
      take: () => {
        if (this.#holds > 0) return Infinity
        this.sends += 1
        return { answered() {}, ended() {}, cancel: () => (this.sends -= 1) }
      },
      // above 0, so that a held call counts as one that must wait
      forecast: () => (this.#holds > 0 ? Number.MIN_VALUE : 0),
      setPolicy() {},
    }
  }

  /** Lets no attempt go, until what comes back was called. */
  hold(): () => void {
    this.#holds += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#holds -= 1
      this.#unitsAvailable?.()
    }
  }
}
