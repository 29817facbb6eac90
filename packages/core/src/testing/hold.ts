/// <reference lib="esnext.disposable" preserve="true" />

/** Calls that are held back in their queue, until they are released. */
export interface Hold extends Disposable {
  /** Resolves when that many calls are queued. */
  queued(calls: number): Promise<void>
  /** Lets the queued calls go, and those that come later. Safe to call again. */
  release(): void
}

/** A hold that counts again, after a call was queued, by `look`. */
export interface QueueHold extends Hold {
  look(): void
}

/** Returns the hold of some queues. `count` returns how many calls are queued in them, and `release` ends it. */
export function holdOf(count: () => number, release: () => void): QueueHold {
  const awaited: { readonly calls: number; readonly resolve: () => void }[] = []
  const look = (): void => {
    const queued = count()
    for (const { calls, resolve } of awaited) if (queued >= calls) resolve()
  }
  return {
    queued: (calls) =>
      new Promise((resolve) => {
        awaited.push({ calls, resolve })
        look()
      }),
    look,
    release,
    [Symbol.dispose]: release,
  }
}
