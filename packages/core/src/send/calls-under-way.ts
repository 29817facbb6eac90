/** Counts the calls under way of one manager, so that closing can wait for them. */
export class CallsUnderWay {
  closed = false
  count = 0
  readonly #idle = Promise.withResolvers<void>()
  /** End the waits of calls that have not been sent. */
  readonly #ends = new Set<() => void>()

  left(): void {
    this.count -= 1
    if (this.closed && this.count === 0) this.#idle.resolve()
  }

  /** Waits on behalf of a call that was never sent; rejects as soon as the manager closes. */
  async untilClosed<T>(waited: Promise<T>, closed: () => Error): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const end = (): void => reject(closed())
    this.#ends.add(end)
    try {
      return await Promise.race([waited, promise])
    } finally {
      this.#ends.delete(end)
    }
  }

  /** Takes no new calls; resolves when those under way have ended. */
  async close(): Promise<void> {
    this.closed = true
    for (const end of this.#ends) end()
    if (this.count > 0) await this.#idle.promise
  }
}
