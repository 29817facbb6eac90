import type { Wait } from '../issuer/token-source.ts'
import { backoff } from '../time/backoff.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { StoreEntry } from './token-store.ts'

/** How long a process waits before it looks again whether another one is done. */
const pauseAfterLooks = backoff({ first: 40, most: 500, jitter: 'half' })

/** Lets one process wait while another one, the holder of the lease, asks the issuer. */
export class HolderWait {
  readonly #store: GuardedStore
  readonly #name: string
  readonly #lease: number
  readonly #wait: Wait
  /** Time for a holder that died, and for its successor. */
  readonly #giveUpAt: number
  #looks = 0

  constructor(store: GuardedStore, name: string, lease: number, wait: Wait) {
    this.#store = store
    this.#name = name
    this.#lease = lease
    this.#wait = wait
    this.#giveUpAt = performance.now() + 2 * lease
  }

  /**
   * Returns the entry that the holder wrote if the store passes it on, `'look'` when it is time to claim again, and
   * `'late'` when the calls may not wait any longer.
   */
  async next(stale: string | undefined): Promise<StoreEntry | 'look' | 'late'> {
    this.#looks += 1
    // without a wake-up, and after one without an entry: processes must not claim all at once
    const pause = pauseAfterLooks(this.#looks)
    if (this.#store.wakes) {
      // after the lease the holder has died
      const written = await this.#wokenWithin(Math.min(this.#lease, this.#timeLeft() - pause), stale)
      if (written !== undefined) return written
    }
    if (pause >= this.#timeLeft()) return 'late'
    await this.#wait.pause(pause)
    return 'look'
  }

  /** Calls that have another token to send need not wait as long as those without. */
  #timeLeft(): number {
    return this.#wait.needed ? this.#wait.timeLeft : this.#giveUpAt - performance.now()
  }

  async #wokenWithin(ms: number, stale: string | undefined): Promise<StoreEntry | undefined> {
    if (ms <= 0) return undefined
    const over = new AbortController()
    let written: StoreEntry | undefined
    const wake = async (): Promise<void> => {
      written = await this.#store.wait(this.#name, stale, ms, over.signal)
    }
    try {
      await this.#wait.pause(ms, wake())
    } finally {
      over.abort()
    }
    return written
  }
}
