/// <reference lib="esnext.disposable" preserve="true" />

/** Calls that are held back in their queue, until they are released. */
export interface Hold extends Disposable {
  /** Resolves when that many calls are queued. */
  queued(calls: number): Promise<void>
  /** Lets the queued calls go, and those that come later. Safe to call again. */
  release(): void
}

/** The hold of some queues. `count` returns how many calls are queued in them. */
export class QueueHold implements Hold {
  readonly #count: () => number
  readonly #end: () => void
  readonly #awaited: { readonly calls: number; readonly resolve: () => void }[] = []

  constructor(count: () => number, end: () => void) {
    this.#count = count
    this.#end = end
  }

  queued(calls: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.push({ calls, resolve })
      this.look()
    })
  }

  release(): void {
    this.#end()
  }

  [Symbol.dispose](): void {
    this.#end()
  }

  /** Counts again, after a call was queued. */
  look(): void {
    const queued = this.#count()
    for (const { calls, resolve } of this.#awaited) if (queued >= calls) resolve()
  }
}
