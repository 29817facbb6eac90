import { vi } from 'vitest'
import { sharedStore } from '../src/fleet.ts'
import type { IssuerSettings, TokenManagerOptions } from '../src/index.ts'
import { FakeIssuer, fakeService, type FakeService } from './fake-issuer.ts'
import { MemoryStore } from './memory-store.ts'

/** Managers that share a store and an issuer, as the processes of a fleet do. */
export interface Fleet {
  readonly issuer: FakeIssuer
  readonly store: MemoryStore
  readonly processes: readonly FakeService[]
  join(settings?: Partial<IssuerSettings>, options?: Partial<TokenManagerOptions>): FakeService
}

export function fleet(
  size: number,
  settings: Partial<IssuerSettings> = {},
  store: MemoryStore = new MemoryStore(),
): Fleet {
  const issuer = new FakeIssuer()
  const join: Fleet['join'] = (own = {}, options = {}) =>
    fakeService({ ...settings, ...own }, { store: sharedStore(store), fetch: issuer.fetch, ...options })
  return { issuer, store, join, processes: Array.from({ length: size }, () => join()) }
}

const encryption = { underWay: 0 }

/** A clock that stands still; Web Crypto works outside of it. */
export function stopClock(now: number): void {
  vi.useFakeTimers({ now, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  const { subtle } = globalThis.crypto
  for (const method of ['importKey', 'deriveBits', 'deriveKey', 'encrypt', 'decrypt'] as const) {
    const original = subtle[method].bind(subtle) as (...parameters: unknown[]) => Promise<never>
    vi.spyOn(subtle, method).mockImplementation(async (...parameters: unknown[]) => {
      encryption.underWay += 1
      try {
        return await original(...parameters)
      } finally {
        encryption.underWay -= 1
      }
    })
  }
}

export function restoreClock(): void {
  vi.restoreAllMocks()
  vi.useRealTimers()
}

/** Lets time pass and everything that is due happen. */
export async function pass(ms: number): Promise<void> {
  const step = Math.max(50, ms / 20)
  await settle()
  for (let left = ms; left > 0; left -= step) {
    await vi.advanceTimersByTimeAsync(Math.min(step, left))
    await settle()
  }
}

async function settle(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve))
  while (encryption.underWay > 0)
}

/** What comes of it, for which time passes as long as it must. */
export async function soon<T>(work: Promise<T>): Promise<T> {
  const state = { settled: false }
  const outcome = work.finally(() => (state.settled = true))
  outcome.catch(() => {})
  await settle()
  while (!state.settled) await pass(50)
  return outcome
}

export const tokensOf = async (processes: readonly FakeService[]): Promise<string[]> =>
  Promise.all(processes.map(async ({ tokens }) => (await tokens.getToken('general')).value))
