import { abortable } from '../time/abortable.ts'
import type { Emit, StoreFailure } from '../events.ts'
import { StepTimeout } from '../time/timers.ts'
import type { StoreClaim, StoreEntry, TokenStore } from './token-store.ts'

/** How long one step of the store may take at most, in milliseconds. */
export const storeTimeout = 1_000

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
    const claiming = (async () => this.#store.claim(name, stale, lease))()
    // a lease that has ended when it arrives cannot be used
    const claimed = await this.#inTime(async () => [await claiming], Math.min(storeTimeout, lease))
    if (claimed === undefined) {
      // a lease that comes too late must not keep other processes waiting
      void claiming.then(
        (late) => (isClaim(late) && isFence(late) ? this.release(name, late.fence, 0) : undefined),
        () => {},
      )
      return undefined
    }
    const [claim] = claimed
    if (isClaim(claim) && (claim === 'locked' || isFence(claim) || claim.entry !== stale)) return claim
    this.failed('unreadable')
    return undefined
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
      const written: unknown = await this.#store.wait?.(name, ms, signal)
      return isEntry(written) && written.entry !== stale ? written : undefined
    } catch {
      // the claim that follows shows whether the store works
      return undefined
    }
  }

  async write(name: string, fence: string, entry: string, lifetime: number): Promise<void> {
    const written = await this.#inTime(async () => [await this.#store.write(name, fence, entry, lifetime)])
    if (written !== undefined) this.works()
  }

  async release(name: string, fence: string, pause: number): Promise<void> {
    await this.#inTime(() => this.#store.release(name, fence, pause))
  }

  async drop(name: string, entry: string): Promise<void> {
    await this.#inTime(() => this.#store.drop(name, entry))
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

  async #inTime<T>(work: () => Promise<T>, span: number = storeTimeout): Promise<T | undefined> {
    const timer = new StepTimeout(() => span)
    const signal = timer.signal()
    try {
      return await abortable(
        // a store may throw before it returns a promise
        (async () => work())(),
        signal,
      )
    } catch {
      // what the client of a store throws may quote its commands, so nothing of it is passed on
      this.failed(signal.aborted ? 'timeout' : 'error')
      return undefined
    } finally {
      timer.clear()
    }
  }
}

function isClaim(value: unknown): value is StoreClaim {
  if (value === 'locked') return true
  if (typeof value !== 'object' || value === null) return false
  const { entry, fence } = value as Record<string, unknown>
  if ('fence' in value) return typeof fence === 'string' && entry === undefined
  return isEntry(value)
}

function isEntry(value: unknown): value is StoreEntry {
  const { entry, expiresIn } = (value ?? {}) as Record<string, unknown>
  // an entry that lives for NaN milliseconds would never expire
  const isSpan = typeof expiresIn === 'number' && !Number.isNaN(expiresIn)
  return typeof entry === 'string' && (expiresIn === undefined || isSpan)
}

function isFence(claim: StoreClaim): claim is Extract<StoreClaim, { fence: string }> {
  return claim !== 'locked' && 'fence' in claim
}
