import { closedError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { functionsOf, type Managed, type TokenManager } from '../token-manager.ts'

/** How long after a tenant was looked up its call may still be about to begin, in milliseconds. */
const grace = 10_000
/** How many tenants are looked at, at most, to find one to drop. */
const mostLooks = 100

interface Tenant<Issuer extends string> extends Managed {
  readonly tokens: TokenManager<Issuer>
  usedAt: number
}

/**
 * Keeps the managers of tenants: each is created on first use, and dropped when others were used more recently. A manager
 * that is not idle is never dropped. No timer runs for any of this.
 */
export class RecentTenants<Issuer extends string> {
  readonly #most: number
  readonly #create: (id: string, tokens: object) => Managed
  /** The least recently used first. */
  readonly #tenants = new Map<string, Tenant<Issuer>>()
  #isClosed = false

  /** @param create puts the manager of a tenant together; `tokens` is what messages and events name as the manager. */
  constructor(most: number, create: (id: string, tokens: object) => Managed) {
    this.#most = most
    this.#create = create
  }

  /** Returns the manager of a tenant. What is behind it is looked up at each call. */
  get(id: string): TokenManager<Issuer> {
    return this.#use(id).tokens
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#tenants.values(), ({ registration }) => registration.close()))
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

  #tokensOf(id: string): TokenManager<Issuer> {
    const tokens = {} as TokenManager<Issuer>
    return Object.assign(
      tokens,
      functionsOf<Issuer>(
        () => this.#use(id, tokens),
        () => this.#close(id),
      ),
    )
  }

  async #close(id: string): Promise<void> {
    const tenant = this.#tenants.get(id)
    this.#tenants.delete(id)
    await tenant?.registration.close()
  }

  #dropOldest(usedBefore: number): void {
    let looks = 0
    for (const [id, { registration, usedAt }] of this.#tenants) {
      looks += 1
      if (this.#tenants.size <= this.#most || usedAt > usedBefore || looks > mostLooks) return
      if (!registration.isIdle) continue
      this.#tenants.delete(id)
      // what it still holds of a shared limiter is given back
      void registration.close()
    }
  }
}
