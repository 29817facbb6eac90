import { vi } from 'vitest'
import type { Exchange } from '../src/adapter.ts'
import type { Api, TokenManager } from '../src/index.ts'

/** Returns the API of a fake service. */
export function apiOf(tokens: TokenManager): Api {
  const api = tokens.route('https://api.example.com/records')
  if (api === undefined) throw new Error('no API')
  return api
}

/** Returns one exchange that an attempt makes. */
export function answer<T>(status: number, result: T, more: Partial<Exchange<T>> = {}): Exchange<T> {
  return { status, result, discard() {}, ...more }
}

/** Lets time pass for as long as the call waits for something. */
export async function inTime<T>(call: Promise<T>): Promise<T> {
  const wait = { isOver: false }
  const over = (): void => void (wait.isOver = true)
  call.then(over, over)
  await vi.advanceTimersByTimeAsync(0)
  while (!wait.isOver && vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync()
  return call
}
