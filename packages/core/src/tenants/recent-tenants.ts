import { closedError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import type { Registration } from '../manager/registration.ts'
import { standInFor } from '../manager/stand-in.ts'
import type { TokenManager } from '../token-manager.ts'

/** How long after a tenant was looked up its call may still be about to begin, in milliseconds. */
const grace = 10_000
/** How many tenants are looked at, at most, to find one to drop. */
const mostLooks = 100

/** What is behind the manager of a tenant. */
interface Behind {
  readonly registration: Registration
  /** Whether a limiter that outlives the manager keeps its units. */
  readonly hasLimiter: boolean
}

interface Tenant<Issuer extends string> extends Behind {
  readonly tokens: TokenManager<Issuer>
  usedAt: number
}

/**
 * Keeps the managers of tenants: each is created on first use, and dropped when others were used more recently. A manager
 * that is not idle is never dropped. No timer runs for any of this.
 */
export class RecentTenants<Issuer extends string> {
  readonly #most: number
  readonly #create: (id: string, tokens: object) => Behind
  /** The least recently used first. */
  readonly #tenants = new Map<string, Tenant<Issuer>>()
  #isClosed = false

  /** @param create puts the manager of a tenant together; `tokens` is what messages and events name as the manager. */
  constructor(most: number, create: (id: string, tokens: object) => Behind) {
    this.#most = most
    this.#create = create
  }

  /** Returns the manager of a tenant. What is behind it is looked up at each call. */
  get(id: string): TokenManager<Issuer> {
    return this.#use(id).tokens
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true
    await Promise.all(
      Array.from(this.#tenants.values(), ({ registration }) => registration.functions.close()),
    )
  }

  #use(id: string, known?: TokenManager<Issuer>): Tenant<Issuer> {
    const tenant = this.#tenants.get(id) ?? this.#add(id, known ?? this.#tokensOf(id))
    tenant.usedAt = performance.now()
    // to the end
    this.#tenants.delete(id)
    this.#tenants.set(id, tenant)
    if (this.#tenants.size > this.#most) this.#dropOldest(tenant.usedAt - grace)
    return tenant
  }

  #add(id: string, tokens: TokenManager<Issuer>): Tenant<Issuer> {
    if (this.#isClosed) throw closedError(`tenant "${printable(id)}"`)
    return { tokens, ...this.#create(id, tokens), usedAt: 0 }
  }

  /** Returns a manager whose functions, which may be taken off it, look up what is behind them at each call. */
  #tokensOf(id: string): TokenManager<Issuer> {
    const tokens: TokenManager<Issuer> = standInFor(() => this.#use(id, tokens).registration.functions)
    const close = (): Promise<void> => this.#close(id)
    return Object.assign(tokens, { close, [Symbol.asyncDispose]: close })
  }

  async #close(id: string): Promise<void> {
    const tenant = this.#tenants.get(id)
    this.#tenants.delete(id)
    await tenant?.registration.functions.close()
  }

  #dropOldest(usedBefore: number): void {
    let looks = 0
    for (const [id, tenant] of this.#tenants) {
      looks += 1
      if (this.#tenants.size <= this.#most || tenant.usedAt > usedBefore || looks > mostLooks) return
      if (!isUnused(tenant)) continue
      this.#tenants.delete(id)
      // what it still holds of a shared limiter is given back
      void tenant.registration.functions.close()
    }
  }
}

/** Whether no call is under way, no token is being renewed, and another manager would send as many calls now. */
function isUnused({ registration, hasLimiter }: Behind): boolean {
  if (!registration.isIdle()) return false
  return registration.functions
    .status()
    .apis.every(
      ({ pausedUntil, quotaUsed = 0 }) => pausedUntil === undefined && (hasLimiter || quotaUsed === 0),
    )
}
