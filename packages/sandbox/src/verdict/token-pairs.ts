import type { LedgerEntry, SeenRequest } from '../journal/entry.ts'
import { type Broken, timeToReact } from './rule.ts'

/** Two tokens of which the second was not needed, if one program got both. */
export interface TokenPair extends Broken {
  first: LedgerEntry
  second: LedgerEntry
  at: number
}

const remembered = 1_000

/**
 * Keeps the pairs of tokens that one program seems to have got. Where both are still used after the program had time to
 * drop the first, each belongs to a program of its own, and the pair is dropped.
 */
export class TokenPairs {
  #pairs: (TokenPair & { used: Set<LedgerEntry> })[] = []

  add(pair: TokenPair): TokenPair | undefined {
    this.#pairs.push({ ...pair, used: new Set() })
    return this.#pairs.length > remembered ? this.#pairs.shift() : undefined
  }

  /** Takes a call. Returns the pairs that it shows to be of two programs, which are dropped. */
  see({ kind, token, reachedAt }: SeenRequest): readonly TokenPair[] {
    if (kind !== 'api' || token === undefined) return []
    for (const { first, second, at, used } of this.#pairs)
      if ((token === first || token === second) && reachedAt > at + timeToReact) used.add(token)
    const ofTwo = this.#pairs.filter(({ used }) => used.size === 2)
    if (ofTwo.length > 0) this.#pairs = this.#pairs.filter(({ used }) => used.size < 2)
    return ofTwo
  }

  all(): readonly TokenPair[] {
    return this.#pairs
  }
}
