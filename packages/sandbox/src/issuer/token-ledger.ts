import { BoundedMap } from '../bounded-map.ts'
import type { LedgerEntry } from '../journal/entry.ts'

export type TokenState = 'live' | 'expired' | 'revoked'

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** How many tokens are kept. A sandbox that runs for days forgets its oldest tokens. */
const rememberedTokens = 100_000

/** Keeps every token of one issuer, with its end to the millisecond. The OAuth server itself counts in whole seconds. */
export class TokenLedger {
  /** Lifetime of the tokens issued from now on, in milliseconds. */
  lifetime: number
  readonly #entries = new BoundedMap<Writable<LedgerEntry>>(rememberedTokens)
  readonly #now: () => number
  readonly #realm: string
  #issued = 0

  constructor(lifetime: number, now: () => number, realm = 'token') {
    this.lifetime = lifetime
    this.#now = now
    this.#realm = realm
  }

  /** Adds a token that was issued now. */
  issue(token: string): LedgerEntry {
    this.#issued += 1
    const issuedAt = this.#now()
    const expiresAt = issuedAt + this.lifetime
    const entry: Writable<LedgerEntry> = {
      name: `${this.#realm}-${this.#issued}`,
      lifetime: this.lifetime,
      issuedAt,
      promisedUntil: expiresAt,
      expiresAt,
      revokedAt: undefined,
    }
    this.#entries.set(token, entry)
    return entry
  }

  entryOf(token: string): LedgerEntry | undefined {
    return this.#entries.get(token)
  }

  stateOf({ revokedAt, expiresAt }: LedgerEntry): TokenState {
    if (revokedAt !== undefined) return 'revoked'
    return this.#now() < expiresAt ? 'live' : 'expired'
  }

  /** Returns the tokens that live now, the newest first. */
  live(): LedgerEntry[] {
    return this.#entries
      .values()
      .filter((entry) => this.stateOf(entry) === 'live')
      .toReversed()
  }

  expireAll(): void {
    const at = this.#now()
    for (const entry of this.#entries.values()) entry.expiresAt = Math.min(entry.expiresAt, at)
  }

  revokeAll(): void {
    const at = this.#now()
    for (const entry of this.#entries.values()) entry.revokedAt ??= at
  }
}
