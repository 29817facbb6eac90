/** The longest delay that a timer takes, in milliseconds: one that is set for more fires at once. */
export const longestTimer = 2_147_483_647

/**
 * Sets a timer for `ms` milliseconds: for 1 at least, and for as many as a timer takes at most. Rounds to the nearest
 * millisecond: rounding up would cost 10 % of 100 calls a second with `spread`.
 */
export function queueTimer(ms: number, act: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(act, Math.min(Math.max(1, Math.round(ms)), longestTimer))
}

/** Gives each step of a request (asking the provider, asking the issuer) its own time limit and signal. */
export class StepTimeout {
  readonly #span: () => number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(span: () => number) {
    this.#span = span
  }

  /** Returns the signal of the next step; the step before has no time limit any more. */
  signal(): AbortSignal {
    this.clear()
    const controller = new AbortController()
    this.#timer = setTimeout(
      () => controller.abort(new DOMException('Timed out', 'TimeoutError')),
      Math.min(this.#span(), longestTimer),
    )
    return controller.signal
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
