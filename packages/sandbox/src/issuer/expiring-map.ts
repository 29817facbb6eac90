const fewest = 1_000

/** A map that forgets an entry some time after its end, so that it holds at most about twice as many as are alive. */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly expiresAt: number }>()
  #sweepAt = fewest

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** @param times - when the entry ends, and the time now; both in milliseconds since 1970. */
  set(key: string, value: Value, { expiresAt, now }: { expiresAt: number; now: number }): void {
    this.#entries.set(key, { value, expiresAt })
    if (this.#entries.size < this.#sweepAt) return
    for (const [each, entry] of this.#entries) if (entry.expiresAt <= now) this.#entries.delete(each)
    this.#sweepAt = Math.max(fewest, 2 * this.#entries.size)
  }
}
