import type { TokenlaneErrorCode } from './errors.ts'

/** Why a token was asked for. */
export type RenewalReason = 'startup' | 'ahead' | 'expired' | 'rejected'

/**
 * How the shared store failed: it threw, did not answer in time (a second at most), or gave what none of this fleet
 * has written.
 */
export type StoreFailure = 'error' | 'timeout' | 'unreadable'

/**
 * Everything that an operator may want to see, told apart by `type`. Times are milliseconds. No event carries
 * a token, a secret or a full URL: an `api` is its `baseUrl`.
 */
export type TokenlaneEvent =
  /** A token request succeeded; `joiners` calls waited for it. */
  | {
      readonly type: 'token.renewed'
      readonly issuer: string
      readonly expiresAt: Date
      readonly duration: number
      readonly reason: RenewalReason
      readonly joiners: number
    }
  /** A token that another process had obtained was taken from the shared store. */
  | { readonly type: 'token.received'; readonly issuer: string; readonly expiresAt: Date }
  /** A token request failed; the next comes in `retryIn` at the earliest. */
  | {
      readonly type: 'renewal.failed'
      readonly issuer: string
      readonly code: TokenlaneErrorCode
      readonly retryIn: number
      readonly tokenStillValid: boolean
    }
  /** The shared store fails: each process asks for its own tokens until it is back. Once per failure. */
  | { readonly type: 'store.failed'; readonly reason: StoreFailure }
  /** The shared store does its work again. */
  | { readonly type: 'store.recovered' }
  /** An API answered 401 to the token in use, which is dropped. Once per token, however many calls it hit. */
  | { readonly type: 'token.rejected'; readonly issuer: string; readonly api: string }
  /** A call must wait; `queued` calls wait now, this one included, and the last of them goes in about `emptyIn`. */
  | {
      readonly type: 'call.queued'
      readonly api: string
      readonly queued: number
      readonly emptyIn: number
    }
  /** A call that had `waited` goes out; `queued` calls still wait, and the last of them goes in about `emptyIn`. */
  | {
      readonly type: 'call.sent'
      readonly api: string
      readonly waited: number
      readonly queued: number
      readonly emptyIn: number
    }
  /** The API said that the limit is passed: no call goes out `for` so long. */
  | {
      readonly type: 'api.paused'
      readonly api: string
      readonly for: number
      readonly status: number
    }
  /** The rate budget that a fleet shares cannot be reached: this process keeps to its own share. Once, when it begins. */
  | { readonly type: 'limiter.failed'; readonly api: string; readonly reason: string }
  /** The rate budget is shared again. */
  | { readonly type: 'limiter.recovered'; readonly api: string }
  /** The client secret must be rotated: `daysLeft` of its 365 days remain. Once per threshold. */
  | {
      readonly type: 'secret.expiring'
      readonly issuer: string
      readonly clientId: string
      readonly daysLeft: number
      readonly threshold: 10 | 5 | 0
    }
  /** The issuer took other credentials than the time before. */
  | { readonly type: 'credentials.rotated'; readonly issuer: string; readonly clientId: string }

/** Receives events, synchronously and in order. Whatever it throws is ignored. */
export type Observer = (event: TokenlaneEvent) => void

/** `undefined` where nobody observes, so that no event is made. */
export type Emit = Observer | undefined

/** One function that tells every observer; an observer that fails changes nothing. */
export function createEmit(observers: readonly Observer[]): Emit {
  if (observers.length === 0) return undefined
  return (event) => {
    for (const observe of observers) {
      try {
        const outcome: unknown = observe(event)
        if (outcome instanceof Promise) outcome.catch(() => {})
      } catch {
        // an observer's failure is its own
      }
    }
  }
}
