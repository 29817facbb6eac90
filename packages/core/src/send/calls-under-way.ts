/** Counts the calls under way of one manager, so that closing can wait for them. */
export class CallsUnderWay {
  #closed = false
  #count = 0
  readonly #closing: (() => void)[] = []

  /** Whether the manager takes no new calls. */
  get closed(): boolean {
    return this.#closed
  }

  get isIdle(): boolean {
    return this.#count === 0
  }

  entered(): void {
    this.#count += 1
  }

  left(): void {
    this.#count -= 1
    if (this.#count > 0 || !this.#closed) return
    for (const resolve of this.#closing.splice(0)) resolve()
  }

  /** Takes no new calls; resolves when those under way have ended. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#count > 0) await new Promise<void>((resolve) => this.#closing.push(resolve))
  }
}
