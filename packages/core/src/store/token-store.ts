/**
 * Where the processes of a fleet share their tokens, so that one of them asks the issuer for all.
 *
 * What is kept is a sealed text that tells nothing; a `name` stands for one issuer, client and secret, and is safe
 * to be a part of a key. Every method must be atomic and safe for concurrent callers. A method may throw, hang or
 * be late: each process then asks for its own tokens until the store is back.
 */
export interface TokenStore {
  /**
   * The entry under `name`; else, or if it is `useless` (exactly that text), the right to replace it.
   *
   * The right belongs to one process, for `lease` milliseconds at most.
   */
  claim(name: string, useless: string | undefined, lease: number): Promise<StoreClaim>
  /**
   * Keeps `entry` for `lifetime` milliseconds, and gives the right back. Changes nothing unless `fence` is the right
   * that is held now: whoever is late must not overwrite what a successor wrote.
   */
  write(name: string, fence: string, entry: string, lifetime: number): Promise<unknown>
  /** Gives the right back unused, to be had again after `pause` milliseconds; nothing unless `fence` is held now. */
  release(name: string, fence: string, pause: number): Promise<unknown>
  /** Removes the entry if it is still exactly `entry`. */
  drop(name: string, entry: string): Promise<unknown>
}

/** What a process finds in the store. */
export type StoreClaim =
  /** An entry, and how many milliseconds are left of it by the store's own clock, where it has one. */
  | { readonly entry: string; readonly expiresIn?: number | undefined }
  /** The right to replace the entry: ask the issuer, then `write` or `release`. */
  | { readonly fence: string }
  /** Another process has that right, and asks the issuer now. */
  | 'taken'
