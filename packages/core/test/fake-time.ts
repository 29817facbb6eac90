import { afterEach, beforeEach, vi } from 'vitest'

export const start: number = Date.UTC(2026, 10, 21)
export const second = 1_000
export const minute: number = 60 * second
export const hour: number = 60 * minute

/** Fakes both clocks and all timers in every test of a file, from `start` on. */
export function fakeTime(): void {
  beforeEach(() => void vi.useFakeTimers({ now: start }))
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
}

/** Lets time pass and everything that is due happen. */
export const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)
