/** Counts the calls under way of one manager, so that closing can wait for them. */
export class CallsUnderWay {
  /** Whether the manager takes no new calls. */
  closed = false
  count = 0
  readonly #idle = Promise.withResolvers<void>()

  left(): void {
    this.count -= 1
    if (this.closed && this.count === 0) this.#idle.resolve()
  }

  /** Takes no new calls; resolves when those under way have ended. */
  async close(): Promise<void> {
    this.closed = true
    if (this.count > 0) await this.#idle.promise
  }
}
