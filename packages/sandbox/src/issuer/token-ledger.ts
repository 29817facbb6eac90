import type { LedgerEntry } from '../journal/entry.ts'

/** The state of a token now, by the ledger. */
export type TokenState = 'live' | 'expired' | 'revoked' | 'unknown'

/**
 * Keeps every token of one issuer, with its end to the millisecond. The OAuth server itself counts in whole seconds.
 */
export interface TokenLedger {
  /** Lifetime of the tokens issued from now on, in milliseconds. */
  lifetime: number
  /** Adds a token that was issued now, with its `jti` as the id. */
  issue(id: string): void
  /** Returns the lifetime with which the token was issued, in milliseconds. */
  lifetimeOf(id: string): number
  stateOf(id: string): TokenState
  stateOfEntry(entry: LedgerEntry): TokenState
  entryOf(id: string): LedgerEntry | undefined
  /** Returns the tokens that live now, the newest first. */
  live(): LedgerEntry[]
  /** Ends the life of every token issued until now. */
  expireAll(): void
  /** Revokes every token issued until now. */
  revokeAll(): void
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** How many tokens are kept. A sandbox that runs for days forgets its oldest tokens. */
const rememberedTokens = 100_000

export function createTokenLedger(lifetime: number, now: () => number, realm = 'token'): TokenLedger {
  const entries = new Map<string, Writable<LedgerEntry>>()
  let issued = 0

  const stateOf = (entry: LedgerEntry | undefined): TokenState => {
    if (entry === undefined) return 'unknown'
    if (entry.revokedAt !== undefined) return 'revoked'
    return now() < entry.expiresAt ? 'live' : 'expired'
  }

  return {
    lifetime,
    issue(id) {
      issued += 1
      const issuedAt = now()
      const expiresAt = issuedAt + this.lifetime
      entries.set(id, {
        name: `${realm}-${issued}`,
        lifetime: this.lifetime,
        issuedAt,
        promisedUntil: expiresAt,
        expiresAt,
        revokedAt: undefined,
      })
      const [oldest] = entries.keys()
      if (entries.size > rememberedTokens && oldest !== undefined) entries.delete(oldest)
    },
    lifetimeOf: (id) => entries.get(id)?.lifetime ?? 0,
    stateOf: (id) => stateOf(entries.get(id)),
    stateOfEntry: stateOf,
    entryOf: (id) => entries.get(id),
    live: () => [...entries.values()].filter((entry) => stateOf(entry) === 'live').toReversed(),
    expireAll() {
      const at = now()
      for (const entry of entries.values()) entry.expiresAt = Math.min(entry.expiresAt, at)
    },
    revokeAll() {
      const at = now()
      for (const entry of entries.values()) entry.revokedAt ??= at
    },
  }
}
