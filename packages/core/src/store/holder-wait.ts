import type { Wait } from '../issuer/token-source.ts'
import { backoff, betweenHalfAndWhole } from '../time/backoff.ts'
import { storeTimeout } from './guarded-store.ts'

/** How long a process waits before it looks again for another one's token. */
const betweenLooks = { first: 40, most: 250 }

/**
 * Returns how one process waits while another one, the holder of the lease, asks the issuer: for a little longer each time.
 * It resolves with whether the process may claim again: calls may not wait any longer if not.
 */
export function holderWait(lease: number, wait: Wait): () => Promise<boolean> {
  // time for a holder that died, and for its successor
  let left = 2 * lease
  let [lookedAt, longest] = [performance.now(), storeTimeout]
  let looks = 0
  return async () => {
    looks += 1
    const now = performance.now()
    // what is longer between two looks is time that the process did not have
    left -= Math.min(now - lookedAt, longest)
    // calls that have another token to send need not wait as long as those without
    const timeLeft = wait.needed ? wait.timeLeft : left
    // processes must not claim all at once
    const pause = betweenHalfAndWhole(backoff(looks, betweenLooks))
    if (pause >= timeLeft) return false
    lookedAt = now
    longest = pause + storeTimeout
    await wait.pause(pause)
    return true
  }
}
