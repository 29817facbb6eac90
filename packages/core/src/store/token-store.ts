import type { SharedServer } from '../limits/rate-limiter.ts'
import type { ClientCredentials } from '../credentials/credentials.ts'
import type { Emit } from '../events.ts'
import type { TokenEndpoint } from '../issuer/protocol.ts'
import type { ClientTokenSource } from '../issuer/token-source.ts'

/**
 * Where several processes keep their tokens, so that one of them requests each token for all.
 *
 * An entry is sealed text that reveals nothing about the token. A `name` stands for one issuer, client and secret, and
 * is safe to use as part of a key. Every method must be atomic and safe for concurrent callers. A method may throw,
 * hang or be late: each process then requests its own tokens until the store works again.
 */
export interface TokenStore {
  /**
   * Returns the entry under `name`, or the right to write a new one if there is no entry or it is exactly `stale`.
   *
   * One process holds the right at a time, for `lease` milliseconds at most.
   */
  claim(name: string, stale: string | undefined, lease: number): Promise<StoreClaim>
  /**
   * Keeps `entry` for `lifetime` milliseconds, and gives the right back. Changes nothing unless `fence` is the right
   * currently held, so that a process whose lease ran out does not overwrite what its successor wrote.
   */
  write(name: string, fence: string, entry: string, lifetime: number): Promise<unknown>
  /**
   * Gives the right back without an entry. The next process gets it after `pause` milliseconds. Changes nothing unless
   * `fence` is the right currently held.
   */
  release(name: string, fence: string, pause: number): Promise<unknown>
  /** Removes the entry if it is still exactly `entry`. */
  drop(name: string, entry: string): Promise<unknown>
  /**
   * Returns facts about the server behind the store. For tools such as `tokenlane doctor`: calls never wait for
   * it. Optional.
   */
  server?(): Promise<SharedServer>
}

/** An entry, and how many milliseconds it has left by the store's own clock, if it has one. */
export interface StoreEntry {
  readonly entry: string
  readonly expiresIn?: number | undefined
}

/** What a process finds in the store. */
export type StoreClaim =
  | StoreEntry
  /** The right to write the entry: request a token, then `write` or `release`. */
  | { readonly fence: string }
  /** Another process holds that right and is requesting a token: the caller claims again after 20 to 250 ms. */
  | 'locked'

/** A registered symbol, so that two copies of the package agree on it. */
export const sharing: unique symbol = Symbol.for('tokenlane.sharing') as never

/** A token store with what managers need to share tokens through it: `sharedStore` turns a store into one. */
export interface SharedStore extends TokenStore {
  readonly [sharing]: unknown
}

/**
 * Where a tool keeps the tokens of the application that it runs, as a property of `globalThis`: used by managers without
 * a store of their own. A registered symbol, since the application may have another copy of the package.
 */
export const storeOfTool: unique symbol = Symbol.for('tokenlane.store') as never

/** Returns a function that shares the tokens of one manager through its store. */
export function sharingBy(store: SharedStore, emit: Emit): ShareTokens {
  return (store[sharing] as (emit: Emit) => ShareTokens)(emit)
}

/**
 * Returns the source that several processes share.
 *
 * @param leaseTime how long a process may ask the issuer before another one may, in milliseconds.
 * @param clients those that are known at start.
 * @throws TokenlaneError `INVALID_OPTIONS` for clients whose tokens the store cannot seal.
 */
export type ShareTokens = (
  source: ClientTokenSource,
  endpoint: TokenEndpoint,
  leaseTime: number,
  clients: readonly ClientCredentials[],
) => ClientTokenSource
