import { longestTimer } from './longest-timer.ts'

/** A time span for each step of a request (asking the provider, asking the issuer), with a signal of its own. */
export class StepTimeout {
  readonly #span: () => number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(span: () => number) {
    this.#span = span
  }

  /** A signal for the next step; ends the one before. */
  signal(): AbortSignal {
    this.clear()
    const controller = new AbortController()
    this.#timer = setTimeout(
      () => controller.abort(new DOMException('The time is over', 'TimeoutError')),
      Math.min(this.#span(), longestTimer),
    )
    return controller.signal
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
