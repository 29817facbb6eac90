/** A wait that can be cut short, and that keeps the process alive only while somebody waits for its end. */
export class Pause {
  readonly over: Promise<void>
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #resolve: () => void

  constructor(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    this.#resolve = resolve
    this.#timer = setTimeout(resolve, ms)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#resolve()
  }

  // outside of Node a timer is a number, and holds nothing

  letGo(): void {
    if (typeof this.#timer === 'object') this.#timer.unref()
  }

  hold(): void {
    if (typeof this.#timer === 'object') this.#timer.ref()
  }
}
