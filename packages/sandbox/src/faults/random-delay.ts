import { setTimeout } from 'node:timers/promises'

/** Bounds of a random time, in milliseconds. */
export interface DelayRange {
  min: number
  max: number
}

/** Waits without keeping the process alive: the servers do that for as long as they are open. */
export const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { ref: false })

/** Makes a wait of another random length each time; without a range it does not wait at all. */
export function createRandomDelay(range: DelayRange | undefined): () => Promise<void> {
  if (range === undefined) return async () => {}
  const { min, max } = range
  return () => pause(min + Math.random() * (max - min))
}
