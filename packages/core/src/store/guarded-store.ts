import { abortable } from '../time/abortable.ts'
import type { Emit, StoreFailure } from '../events.ts'
import { StepTimeout } from '../time/timers.ts'
import type { StoreClaim, TokenStore } from './token-store.ts'

/** How long one step of the store may take at most, in milliseconds. */
const patience = 1_000

/**
 * A store that never throws, never hangs and never gives anything but what it may: whatever else it does is
 * `undefined`, and told once when it begins and once when it is over.
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
    // by a function: a store may throw before it promises
    const claiming = (async () => this.#store.claim(name, stale, lease))()
    // a right that has run out when it comes is none
    const claimed = await this.#inTime(
      claiming.then((claim) => [claim]),
      Math.min(patience, lease),
    )
    if (claimed === undefined) {
      // a right that comes too late must not keep others waiting
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

  async write(name: string, fence: string, entry: string, lifetime: number): Promise<void> {
    const written = await this.#inTime(
      (async () => [await this.#store.write(name, fence, entry, lifetime)])(),
    )
    if (written !== undefined) this.works()
  }

  async release(name: string, fence: string, pause: number): Promise<void> {
    await this.#inTime((async () => [await this.#store.release(name, fence, pause)])())
  }

  async drop(name: string, entry: string): Promise<void> {
    await this.#inTime((async () => [await this.#store.drop(name, entry)])())
  }

  /** It did what it is there for. */
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

  async #inTime<T>(work: Promise<T>, span: number = patience): Promise<T | undefined> {
    const timer = new StepTimeout(() => span)
    const signal = timer.signal()
    try {
      return await abortable(work, signal)
    } catch {
      // what a client of a store throws may quote its commands: nothing of it is passed on
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
  const { entry, fence, expiresIn } = value as Record<string, unknown>
  if ('fence' in value) return typeof fence === 'string' && entry === undefined
  // of NaN nothing is ever over
  const isSpan = typeof expiresIn === 'number' && !Number.isNaN(expiresIn)
  return typeof entry === 'string' && (expiresIn === undefined || isSpan)
}

function isFence(claim: StoreClaim): claim is Extract<StoreClaim, { fence: string }> {
  return claim !== 'locked' && 'fence' in claim
}
