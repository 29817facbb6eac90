import { closedError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import type { CloseOptions, CutOff } from '../manager/close-within.ts'
import {
  checkedObserver,
  type Registration,
  standInFor,
  type TokenManager,
} from '../manager/token-manager.ts'
import type { Observer } from '../events.ts'

/** How long after a look-up a tenant's call may still begin, in milliseconds. */
const grace = 10_000
/** How many tenants are looked at to find one to drop. */
const mostLooks = 100

interface Behind extends Registration {
  /** Whether a limiter that outlives the manager keeps its units. */
  readonly hasLimiter: boolean
}

interface Tenant<Issuer extends string> extends Behind {
  readonly tokens: TokenManager<Issuer>
  usedAt: number
}

/** What observes a tenant, also while it is dropped. */
interface Observed<Issuer extends string> {
  /** Always the same one, since telemetry knows a manager by it. */
  readonly tokens: TokenManager<Issuer>
  readonly observers: Set<{ readonly observer: Observer; end?: (() => void) | undefined }>
}

/**
 * Keeps the managers of tenants: each is created on first use, and dropped when others were used more recently. A manager
 * is never dropped unless it is idle and a new one would send as many calls. No timer runs for any of this.
 *
 * @param create puts the manager of a tenant together; `tokens` is what messages and events name as the manager.
 */
export function recentTenants<Issuer extends string>(
  most: number,
  create: (id: string, tokens: object) => Behind,
): { get(id: string): TokenManager<Issuer>; closeAll(options: CloseOptions): Promise<CutOff> } {
  /** The least recently used first. */
  const tenants = new Map<string, Tenant<Issuer>>()
  const observed = new Map<string, Observed<Issuer>>()
  let isClosed = false

  function use(id: string, known?: TokenManager<Issuer>): Tenant<Issuer> {
    let tenant = tenants.get(id)
    if (tenant === undefined) {
      if (isClosed) throw closedError(`tenant "${printable(id)}"`)
      const { tokens = known ?? tokensOf(id), observers = [] } = observed.get(id) ?? {}
      tenant = { tokens, ...create(id, tokens), usedAt: 0 }
      for (const each of observers) each.end = tenant.functions.observe(each.observer)
    }
    tenant.usedAt = performance.now()
    // to the end
    tenants.delete(id)
    tenants.set(id, tenant)
    if (tenants.size > most) dropOldest(tenant.usedAt - grace)
    return tenant
  }

  function tokensOf(id: string): TokenManager<Issuer> {
    // what is behind it is looked up at each call
    const tokens: TokenManager<Issuer> = standInFor(() => use(id, tokens).functions)
    const close = async (options?: CloseOptions): Promise<CutOff> => drop(id, options)
    return Object.assign(tokens, {
      // a look brings nothing to life, and does not count as a use
      status: () => tenants.get(id)?.functions.status() ?? { issuers: {}, apis: [] },
      observe: (observer: Observer) => observe(id, tokens, checkedObserver(observer)),
      close,
      [Symbol.asyncDispose]: async () => void (await close()),
    })
  }

  function observe(id: string, standIn: TokenManager<Issuer>, observer: Observer): () => void {
    const tenant = tenants.get(id)
    const all = observed.get(id) ?? { tokens: tenant?.tokens ?? standIn, observers: new Set() }
    const added = { observer, end: tenant?.functions.observe(observer) }
    if (!isClosed) observed.set(id, all)
    all.observers.add(added)
    return () => {
      added.end?.()
      all.observers.delete(added)
      if (all.observers.size === 0) observed.delete(id)
    }
  }

  /** Closes the manager of a tenant, too: what it still holds of a shared limiter is given back. */
  async function drop(id: string, options: CloseOptions = {}): Promise<CutOff> {
    const tenant = tenants.get(id)
    tenants.delete(id)
    // nothing of the dropped manager stays with what observes the next one
    for (const each of observed.get(id)?.observers ?? []) each.end = undefined
    return (await tenant?.functions.close(options)) ?? { calls: 0, tokenRequests: 0 }
  }

  function dropOldest(usedBefore: number): void {
    let looks = 0
    for (const [id, tenant] of tenants) {
      looks += 1
      if (tenants.size <= most || tenant.usedAt > usedBefore || looks > mostLooks) return
      if (!tenant.isIdle()) continue
      const { apis } = tenant.functions.status()
      const newOneSendsAsMany = apis.every(
        ({ pausedUntil, quotaUsed }) => pausedUntil === undefined && (tenant.hasLimiter || !quotaUsed),
      )
      if (newOneSendsAsMany) void drop(id)
    }
  }

  return {
    get: (id) => use(id).tokens,
    async closeAll(options) {
      isClosed = true
      observed.clear()
      const all = await Promise.all(Array.from(tenants.values(), ({ functions }) => functions.close(options)))
      const sumOf = (name: keyof CutOff): number => all.reduce((sum, each) => sum + each[name], 0)
      return { calls: sumOf('calls'), tokenRequests: sumOf('tokenRequests') }
    },
  }
}
