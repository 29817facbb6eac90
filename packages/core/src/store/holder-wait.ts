import type { Wait } from '../issuer/token-source.ts'
import { backoff, betweenHalfAndWhole } from '../time/backoff.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { StoreEntry } from './token-store.ts'

/** How long a process waits before it looks again whether another one is done. */
const betweenLooks = { first: 40, most: 500 }

/**
 * Returns how one process waits while another one, the holder of the lease, asks the issuer: for the entry that it wrote
 * if the store passes it on, `undefined` when it is time to claim again, `'late'` when the calls may not wait any longer.
 */
export function holderWait(
  store: GuardedStore,
  name: string,
  lease: number,
  wait: Wait,
): (stale: string | undefined) => Promise<StoreEntry | 'late' | undefined> {
  // time for a holder that died, and for its successor
  const giveUpAt = performance.now() + 2 * lease
  // calls that have another token to send need not wait as long as those without
  const timeLeft = (): number => (wait.needed ? wait.timeLeft : giveUpAt - performance.now())
  let looks = 0
  return async (stale) => {
    looks += 1
    // without a wake-up, and after one without an entry: processes must not claim all at once
    const pause = betweenHalfAndWhole(backoff(looks, betweenLooks))
    // after the lease the holder has died
    const ms = Math.min(lease, timeLeft() - pause)
    if (ms > 0) {
      const over = new AbortController()
      let written: StoreEntry | undefined
      const waking = store.wait(name, stale, ms, over.signal).then((entry) => (written = entry))
      try {
        await wait.pause(ms, waking)
      } finally {
        over.abort()
      }
      if (written !== undefined) return written
    }
    if (pause >= timeLeft()) return 'late'
    await wait.pause(pause)
    return undefined
  }
}
