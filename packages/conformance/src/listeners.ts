import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, vi } from 'vitest'

/**
 * Nothing listens to these signals any more.
 *
 * `fetch` leaves a listener that goes with its request when that is collected, so the garbage collector is asked
 * before a listener counts as left behind.
 */
export async function mustHaveNoListeners(signals: readonly AbortSignal[]): Promise<void> {
  const left = (): number =>
    signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0)
  if (left() === 0) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await vi.waitFor(
    () => {
      collect()
      expect(left(), 'listeners left on signals').toBe(0)
    },
    { timeout: 60_000, interval: 10 },
  )
}
