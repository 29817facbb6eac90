import type { StoreClaim, TokenStore } from '../src/fleet.ts'

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
  #fences = 0

  async claim(name: string, stale: string | undefined, lease: number): Promise<StoreClaim> {
    this.claims += 1
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
    await this.before('write')
    if (live(this.locks, name)?.value !== fence) return 0
    this.entries.set(name, { value: entry, until: performance.now() + lifetime })
    this.locks.delete(name)
    return 1
  }

  async release(name: string, fence: string, pause: number): Promise<void> {
    await this.before('release')
    if (live(this.locks, name)?.value === fence)
      this.locks.set(name, { value: fence, until: performance.now() + pause })
  }

  async drop(name: string, entry: string): Promise<void> {
    await this.before('drop')
    if (this.entries.get(name)?.value === entry) this.entries.delete(name)
  }
}

function live(kept: Map<string, Kept>, name: string): Kept | undefined {
  const found = kept.get(name)
  return found !== undefined && found.until > performance.now() ? found : undefined
}
