import { abortable } from '../time/delay.ts'
import type { Emit, StoreFailure } from '../events.ts'
import { has } from '../options/check.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import { withTimeLimit } from '../time/countdown.ts'
import { later, moment, timeUntil } from '../time/expiry.ts'
import type { StoreClaim, StoreEntry, TokenStore } from './token-store.ts'

/** How long one step of the store may take at most, in milliseconds. */
export const storeTimeout = 1_000

export type GuardedStore = ReturnType<typeof guardedStore>

/**
 * Returns a store that never throws, never hangs and never returns what the contract does not allow: it returns
 * `undefined` instead, and reports once that it fails and once that it works again.
 */
export function guardedStore(store: TokenStore, emit: Emit) {
  let isFailing = false

  function failed(reason: StoreFailure): void {
    if (!isFailing) emit({ type: 'store.failed', reason })
    isFailing = true
  }

  function works(): void {
    if (isFailing) emit({ type: 'store.recovered' })
    isFailing = false
  }

  function inTime<T>(work: () => Promise<T>, span: number = storeTimeout): Promise<T | undefined> {
    return withTimeLimit(span, async (signal) => {
      try {
        return await abortable(work(), signal)
      } catch (error) {
        // what the client of a store throws may quote its commands, so only its code is passed on
        failed(signal.aborted ? 'timeout' : codeOf(error))
        return undefined
      }
    })
  }

  const release = (name: string, fence: string, pause: number): Promise<unknown> =>
    outliveRequest(inTime(() => store.release(name, fence, pause)))

  return {
    async claim(name: string, stale: string | undefined, lease: number): Promise<StoreClaim | undefined> {
      const end = later(moment(), lease)
      // in a function: a store may throw before it returns a promise
      const claiming = (async () => claimOf(await store.claim(name, stale, lease), stale))()
      // a lease that has ended when it arrives cannot be used
      const claim = await inTime(() => claiming, Math.min(storeTimeout, lease))
      if (typeof claim === 'object' && has(claim, 'fence') && timeUntil(end) <= 0) {
        // the process was frozen meanwhile: another one may have the right by now
        await release(name, claim.fence, 0)
        return this.claim(name, stale, lease)
      }
      if (claim !== undefined) return claim
      failed('unreadable')
      // a lease that comes too late must not keep other processes waiting
      void claiming.then(
        (late) => typeof late === 'object' && has(late, 'fence') && release(name, late.fence, 0),
        () => {},
      )
      return undefined
    },

    async write(name: string, fence: string, entry: string, lifetime: number): Promise<void> {
      const writing = inTime(() => store.write(name, fence, entry, lifetime).then(() => true))
      if (await outliveRequest(writing)) works()
      // others must not wait for what cannot be written
      else await release(name, fence, 0)
    },

    release: (name: string, fence: string, pause: number): Promise<unknown> => release(name, fence, pause),
    drop: (name: string, entry: string): Promise<unknown> =>
      outliveRequest(inTime(() => store.drop(name, entry))),
    works: (): void => works(),
    failed: (reason: StoreFailure): void => failed(reason),
  }
}

function codeOf(error: unknown): StoreFailure {
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z_]{2,32}$/.test(code) ? (code as Uppercase<string>) : 'error'
}

/** Checks what a store returned; `undefined` for anything that it may not return. */
function claimOf(value: unknown, stale: string | undefined): StoreClaim | undefined {
  if (value === 'locked') return value
  const { fence } = (value ?? {}) as { readonly fence?: unknown }
  return typeof fence === 'string' ? { fence } : entryOf(value, stale)
}

function entryOf(value: unknown, stale: string | undefined): StoreEntry | undefined {
  const { entry, expiresIn } = (value ?? {}) as Record<string, unknown>
  // an entry that lives for NaN milliseconds would never expire
  const isSpan = expiresIn === undefined || (typeof expiresIn === 'number' && !Number.isNaN(expiresIn))
  return typeof entry === 'string' && entry !== stale && isSpan ? { entry, expiresIn } : undefined
}
