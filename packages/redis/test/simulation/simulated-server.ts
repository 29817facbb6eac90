/** An API that keeps a limit of its own and says what remains of it, in whole seconds as headers do. */
export interface SimulatedServerOptions {
  readonly quota: number
  readonly window: number
  /** Whether it counts in a sliding window, or in one that begins anew. */
  readonly isSliding: boolean
  /** Whether its responses say nothing of the limit. */
  readonly isSilent?: boolean
}

/** What the API still takes, and for how many milliseconds that holds. */
export interface Header {
  readonly remaining: number
  readonly resetIn: number
  readonly isRefused: boolean
}

export class SimulatedServer {
  readonly #options: SimulatedServerOptions
  #accepted: number[] = []
  /** Calls that it has refused. */
  refused = 0

  constructor(options: SimulatedServerOptions) {
    this.#options = options
  }

  arrive(now: number): Header {
    const { quota, window, isSliding } = this.#options
    const start = isSliding ? now - window : Math.floor(now / window) * window
    this.#accepted = this.#accepted.filter((at) => at > start)
    const isRefused = this.#accepted.length >= quota
    if (isRefused) this.refused += 1
    else this.#accepted.push(now)
    const reset = (isSliding ? (this.#accepted[0] ?? now) : start) + window - now
    return { remaining: quota - this.#accepted.length, resetIn: Math.ceil(reset / 1_000) * 1_000, isRefused }
  }
}
