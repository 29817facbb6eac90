/** Counts the calls under way of one manager, so that closing can wait for them. */
export class CallsUnderWay {
  /** Whether the manager takes no new calls. */
  closed = false
  #count = 0
  readonly #idle = Promise.withResolvers<void>()

  get isIdle(): boolean {
    return this.#count === 0
  }

  entered(): void {
    this.#count += 1
  }

  left(): void {
    this.#count -= 1
    if (this.closed && this.isIdle) this.#idle.resolve()
  }

  /** Takes no new calls; resolves when those under way have ended. */
  async close(): Promise<void> {
    this.closed = true
    if (!this.isIdle) await this.#idle.promise
  }
}
