/** What the ledger says of a token at this moment. */
export type TokenState = 'live' | 'expired' | 'revoked' | 'unknown'

/**
 * Every token that one issuer gave out, and when it ends, to the millisecond. The OAuth server itself counts
 * in whole seconds.
 */
export interface TokenLedger {
  /** Lifetime of the tokens issued from now on, in milliseconds. */
  lifetime: number
  /** Starts the life of a token, with its `jti` as the id. */
  issue(id: string): void
  /** The lifetime that the token was issued with, in milliseconds. */
  lifetimeOf(id: string): number
  stateOf(id: string): TokenState
  /** Ends the life of every token issued until now. */
  expireAll(): void
  /** Revokes every token issued until now. */
  revokeAll(): void
}

interface Entry {
  lifetime: number
  expiresAt: number
  revoked: boolean
}

export function createTokenLedger(lifetime: number, now: () => number): TokenLedger {
  const entries = new Map<string, Entry>()

  return {
    lifetime,
    issue(id) {
      entries.set(id, { lifetime: this.lifetime, expiresAt: now() + this.lifetime, revoked: false })
    },
    lifetimeOf: (id) => entries.get(id)?.lifetime ?? 0,
    stateOf(id) {
      const entry = entries.get(id)
      if (entry === undefined) return 'unknown'
      if (entry.revoked) return 'revoked'
      return now() < entry.expiresAt ? 'live' : 'expired'
    },
    expireAll() {
      const at = now()
      for (const entry of entries.values()) entry.expiresAt = Math.min(entry.expiresAt, at)
    },
    revokeAll() {
      for (const entry of entries.values()) entry.revoked = true
    },
  }
}
