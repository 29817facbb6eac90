import { closedError } from '../errors.ts'
import type { Registration } from './registration.ts'

/** How long after a lookup a tenant may still be about to make its call, in milliseconds. */
const grace = 10_000
/** How many tenants are looked at, at most, to find one to drop. */
const mostLooks = 100

interface Kept {
  readonly registration: Registration
  usedAt: number
}

/**
 * Keeps the registrations of tenants: built on first use, and dropped when others were used more recently, but never
 * with a call under way. No timer runs for them.
 */
export class Tenants {
  readonly #most: number
  readonly #build: (id: string) => Registration
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>()
  #isClosed = false

  constructor(most: number, build: (id: string) => Registration) {
    this.#most = most
    this.#build = build
  }

  /** Returns a tenant's registration, as it is from now on. */
  get(id: string): Registration {
    const kept = this.#kept.get(id) ?? this.#add(id)
    kept.usedAt = performance.now()
    // to the end
    this.#kept.delete(id)
    this.#kept.set(id, kept)
    if (this.#kept.size > this.#most) this.#dropOldest(kept.usedAt - grace)
    return kept.registration
  }

  /** Closes one tenant; it is built anew if it is used again. */
  async close(id: string): Promise<void> {
    const kept = this.#kept.get(id)
    this.#kept.delete(id)
    await kept?.registration.close()
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#kept.values(), ({ registration }) => registration.close()))
  }

  #add(id: string): Kept {
    if (this.#isClosed) throw closedError(`tenant "${id}"`)
    return { registration: this.#build(id), usedAt: 0 }
  }

  #dropOldest(usedBefore: number): void {
    let looks = 0
    for (const [id, { registration, usedAt }] of this.#kept) {
      looks += 1
      if (this.#kept.size <= this.#most || usedAt > usedBefore || looks > mostLooks) return
      if (!registration.isIdle) continue
      this.#kept.delete(id)
      // what it still holds of a shared limiter is given back
      void registration.close()
    }
  }
}
