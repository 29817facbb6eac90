import type { TokenStore } from '@tokenlane/core/fleet'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { lookAtShared } from './shared.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Tries a store that tells no process of a new entry, and whose waits end `early` milliseconds before they should. */
async function tryUnnotifying(early: number, slow = 0): Promise<string | undefined> {
  let kept: string | undefined
  const store: TokenStore = {
    claim: async () => (kept === undefined ? { fence: 'any' } : { entry: kept }),
    async write(_name, _fence, entry) {
      kept = entry
      await new Promise((resolve) => setTimeout(resolve, slow))
    },
    async release() {},
    async drop() {},
    wait: (_name, ms, signal) =>
      new Promise((resolve) => {
        setTimeout(resolve, ms - early, undefined)
        signal.addEventListener('abort', () => resolve(undefined))
      }),
  }
  const looked = lookAtShared({ inspection: { store }, connections: () => [] } as never)
  await vi.advanceTimersByTimeAsync(20_000)
  return (await looked)[0]?.failure
}

test('a store that notifies no process fails, though a timer ends a wait a little early', async () => {
  expect(await tryUnnotifying(1)).toBe('no waiting process was notified of it')
})

test('a process has its time to hear of an entry even if writing it was slow', async () => {
  expect(await tryUnnotifying(0, 4_500)).toBe('no waiting process was notified of it')
})

test('a store on which no process can wait does not fail', async () => {
  expect(await tryUnnotifying(Infinity)).toBeUndefined()
})
