import type { StoreClaim, StoreEntry, TokenStore } from '../src/fleet.ts'

interface Kept {
  readonly value: string
  readonly until: number
}

/** A token store in this process, for managers that stand for the processes of a fleet. */
export class MemoryStore implements TokenStore {
  readonly entries = new Map<string, Kept>()
  readonly locks = new Map<string, Kept>()
  /** What every method does first; a test makes it throw or hang. */
  before: (method: keyof TokenStore) => unknown = () => {}
  claims = 0
  /** Requests of all kinds. */
  requests = 0
  #fences = 0

  async claim(name: string, stale: string | undefined, lease: number): Promise<StoreClaim> {
    this.claims += 1
    this.requests += 1
    await this.before('claim')
    const kept = live(this.entries, name)
    if (kept !== undefined && kept.value !== stale)
      return { entry: kept.value, expiresIn: kept.until - performance.now() }
    if (live(this.locks, name) !== undefined) return 'locked'
    const fence = `fence-${(this.#fences += 1)}`
    this.locks.set(name, { value: fence, until: performance.now() + lease })
    return { fence }
  }

  async write(name: string, fence: string, entry: string, lifetime: number): Promise<unknown> {
    this.requests += 1
    await this.before('write')
    if (live(this.locks, name)?.value !== fence) return 0
    this.entries.set(name, { value: entry, until: performance.now() + lifetime })
    this.locks.delete(name)
    return 1
  }

  async release(name: string, fence: string, pause: number): Promise<void> {
    this.requests += 1
    await this.before('release')
    if (live(this.locks, name)?.value === fence)
      this.locks.set(name, { value: fence, until: performance.now() + pause })
  }

  async drop(name: string, entry: string): Promise<void> {
    this.requests += 1
    await this.before('drop')
    if (this.entries.get(name)?.value === entry) this.entries.delete(name)
  }
}

/** The same, which tells processes that wait when an entry is written or a right is given back. */
export class WakingStore extends MemoryStore implements TokenStore {
  readonly #waiting = new Map<string, Set<(entry?: StoreEntry) => void>>()

  async wait(name: string, _ms: number, signal: AbortSignal): Promise<StoreEntry | undefined> {
    this.requests += 1
    await this.before('wait')
    if (signal.aborted) return undefined
    const waiting = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, waiting)
    return new Promise((resolve) => {
      waiting.add(resolve)
      signal.addEventListener('abort', () => {
        waiting.delete(resolve)
        resolve(undefined)
      })
    })
  }

  override async write(name: string, fence: string, entry: string, lifetime: number): Promise<unknown> {
    const written = await super.write(name, fence, entry, lifetime)
    if (written === 1) this.#wake(name, { entry, expiresIn: lifetime })
    return written
  }

  override async release(name: string, fence: string, pause: number): Promise<void> {
    await super.release(name, fence, pause)
    setTimeout(() => this.#wake(name), pause)
  }

  #wake(name: string, entry?: StoreEntry): void {
    for (const resolve of this.#waiting.get(name) ?? []) resolve(entry)
    this.#waiting.delete(name)
  }
}

function live(kept: Map<string, Kept>, name: string): Kept | undefined {
  const found = kept.get(name)
  return found !== undefined && found.until > performance.now() ? found : undefined
}
