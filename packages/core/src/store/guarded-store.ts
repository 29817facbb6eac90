import { abortable } from '../time/abortable.ts'
import type { Emit, StoreFailure } from '../events.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import { StepTimeout } from '../time/timers.ts'
import type { StoreClaim, StoreEntry, TokenStore } from './token-store.ts'

/** How long one step of the store may take at most, in milliseconds. */
export const storeTimeout = 1_000

class Unreadable extends Error {}

/**
 * A store that never throws, never hangs and never returns what the contract does not allow: it returns `undefined`
 * instead, and reports once that it fails and once that it works again.
 */
export class GuardedStore {
  readonly #store: TokenStore
  readonly #emit: Emit
  #failing = false

  constructor(store: TokenStore, emit: Emit) {
    this.#store = store
    this.#emit = emit
  }

  async claim(name: string, stale: string | undefined, lease: number): Promise<StoreClaim | undefined> {
    // in a function: a store may throw before it returns a promise
    const claiming = (async () => claimOf(await this.#store.claim(name, stale, lease), stale))()
    // a lease that has ended when it arrives cannot be used
    const claimed = await this.#inTime(() => claiming, Math.min(storeTimeout, lease))
    if (claimed === undefined)
      // a lease that comes too late must not keep other processes waiting
      void claiming.then(
        (late) =>
          typeof late === 'object' && 'fence' in late ? this.release(name, late.fence, 0) : undefined,
        () => {},
      )
    return claimed?.result
  }

  /** Whether the store reports when an entry is written. */
  get wakes(): boolean {
    return this.#store.wait !== undefined
  }

  /** Returns the entry that another process wrote, `undefined` when it is time to claim. Never throws. */
  async wait(
    name: string,
    stale: string | undefined,
    ms: number,
    signal: AbortSignal,
  ): Promise<StoreEntry | undefined> {
    try {
      return entryOf(await this.#store.wait?.(name, ms, signal), stale)
    } catch {
      // the claim that follows shows whether the store works
      return undefined
    }
  }

  async write(name: string, fence: string, entry: string, lifetime: number): Promise<void> {
    const written = await outliveRequest(this.#inTime(() => this.#store.write(name, fence, entry, lifetime)))
    if (written !== undefined) this.works()
  }

  async release(name: string, fence: string, pause: number): Promise<void> {
    await outliveRequest(this.#inTime(() => this.#store.release(name, fence, pause)))
  }

  async drop(name: string, entry: string): Promise<void> {
    await outliveRequest(this.#inTime(() => this.#store.drop(name, entry)))
  }

  /** Reports that the store works, if it failed before. */
  works(): void {
    if (!this.#failing) return
    this.#failing = false
    this.#emit?.({ type: 'store.recovered' })
  }

  failed(reason: StoreFailure): void {
    if (this.#failing) return
    this.#failing = true
    this.#emit?.({ type: 'store.failed', reason })
  }

  /** Returns the result in an object, since it may be `undefined` as well. */
  async #inTime<T>(
    work: () => Promise<T>,
    span: number = storeTimeout,
  ): Promise<{ readonly result: T } | undefined> {
    const timer = new StepTimeout(() => span)
    const signal = timer.signal()
    try {
      return { result: await abortable(work(), signal) }
    } catch (error) {
      // what the client of a store throws may quote its commands, so nothing of it is passed on
      const reason = error instanceof Unreadable ? 'unreadable' : 'error'
      this.failed(signal.aborted ? 'timeout' : reason)
      return undefined
    } finally {
      timer.clear()
    }
  }
}

/** @throws Unreadable for what the contract does not allow. */
function claimOf(value: unknown, stale: string | undefined): StoreClaim {
  if (value === 'locked') return value
  const { fence } = (value ?? {}) as { readonly fence?: unknown }
  if (typeof fence === 'string') return { fence }
  const entry = entryOf(value, stale)
  if (entry === undefined) throw new Unreadable()
  return entry
}

function entryOf(value: unknown, stale: string | undefined): StoreEntry | undefined {
  const { entry, expiresIn } = (value ?? {}) as Record<string, unknown>
  // an entry that lives for NaN milliseconds would never expire
  const isSpan = expiresIn === undefined || (typeof expiresIn === 'number' && !Number.isNaN(expiresIn))
  return typeof entry === 'string' && entry !== stale && isSpan ? { entry, expiresIn } : undefined
}
