import { TokenlaneError } from '../errors.ts'

/** How often an incoming request shows that it still runs, and how long without a sign it counts as ended, in milliseconds. */
const interval = 100
const longestSilence = 1_000

/** How often a call looks for what other incoming requests bring, in milliseconds. */
const lookInterval = 10

/**
 * Shows whether the incoming request that holds something for others still runs. In a runtime that ends everything
 * with its request, the timer ends with it, and nothing else says so.
 */
export class SignOfLife {
  readonly #timer: ReturnType<typeof setInterval>
  #seenAt = performance.now()

  /** @throws TokenlaneError `RUNTIME_UNSUPPORTED` where no request is under way. */
  constructor() {
    try {
      this.#timer = setInterval(() => {
        this.#seenAt = performance.now()
      }, interval)
    } catch {
      throw new TokenlaneError(
        'RUNTIME_UNSUPPORTED',
        'Cannot obtain token: this runtime allows timers and requests only while it handles an event, not while it ' +
          'loads modules; make the call in a handler',
      )
    }
  }

  get isLost(): boolean {
    return performance.now() - this.#seenAt > longestSilence
  }

  end(): void {
    clearInterval(this.#timer)
  }
}

/** Calls `look` by timers of the present incoming request until it returns something, and returns that. */
export async function lookUntilThere<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, lookInterval))
  }
}
