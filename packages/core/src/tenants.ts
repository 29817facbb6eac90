/// <reference lib="esnext.disposable" preserve="true" />
// One manager for each tenant of an application, such as each of its customers.
import { readRuntime } from './manager/check-options.ts'
import type { TokenManagerOptions } from './manager/manager-options.ts'
import { mustBeObject, own, refusingTo } from './options/check.ts'
import { aFunction, count, object, oneOf, optional, type ReadAs, text } from './options/reader.ts'
import { mustBeSupportedRuntime } from './manager/supported-runtime.ts'
import { type CloseOptions, closeWithin, type CutOff } from './manager/close-within.ts'
import { recentTenants } from './tenants/recent-tenants.ts'
import { commonLimiter } from './limits/common-limiter.ts'
import type { RateLimiterFactory } from './limits/rate-limiter.ts'
import { type BudgetFactory, budgetsOf, sharedBudgets } from './limits/shared-budgets.ts'
import { CallsWithoutToken } from './send/calls-without-token.ts'
import { putTogether } from './manager/put-together.ts'
import type { TokenManager } from './manager/token-manager.ts'

/** Configures `createTenants`. */
export interface TenantsOptions<Issuer extends string = string> {
  /**
   * Returns the options of a tenant's manager, with the tenant's own credentials for every issuer. Called by the
   * tenant's first `get`, and again when the tenant is used after it was dropped.
   *
   * @param id The tenant's name, as passed to `get`.
   */
  readonly options: (id: string) => TokenManagerOptions<Issuer>
  /**
   * How many tenants are kept, 1 or more. Beyond that, the least recently used one is dropped, and recreated at its
   * next use. A tenant is never dropped within 10 s of its last use, with a call or a token request under way, during a
   * pause, or while a unit of its own limits is in use.
   *
   * @defaultValue 10_000
   */
  readonly most?: number | undefined
  /**
   * Whether each tenant has an API's rate limits to itself (`'own'`), or all tenants share them (`'shared'`), for an
   * API that counts the calls of the whole application.
   *
   * With shared limits, tenants with queued calls take turns, one call each, so a tenant with 10,000 queued calls
   * delays the others by at most one call per round. A pause that the API asks for applies to all of them, as does a
   * change of the limits by `setRatePolicy`. `concurrency`, `maxQueued`, `maxWait` and priorities stay each tenant's
   * own. Tenants share the limits of an API if their options name the same `baseUrl` and the same limits. With a
   * `limiter` in the options, such as `redisLimiter` from `@tokenlane/redis`, the tenants of all processes share them.
   *
   * @defaultValue 'own'
   */
  readonly limits?: 'own' | 'shared' | undefined
  /** As the option of a manager, for all tenants. */
  readonly runtime?: 'server' | undefined
}

/** The managers of an application's tenants. `Issuer` is the union of their issuers' names. */
export interface Tenants<Issuer extends string = string> extends AsyncDisposable {
  /**
   * Returns a tenant's manager, for any adapter. You may keep it: if the tenant has been dropped, the next use
   * recreates it. Its `close()` closes only this tenant, which is recreated at its next use. An observer added by
   * `observe()` stays until it is removed, also while the tenant is dropped. `status()` is no use: it recreates nothing,
   * and is empty for a dropped tenant.
   *
   * @param id The tenant's name. Choose it by the customer the call is for, never by URL.
   * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT` for an invalid name, and for invalid options of
   * this tenant; `MANAGER_CLOSED` after `close()`.
   */
  get(id: string): TokenManager<Issuer>
  /** Closes every tenant's manager, as the manager's own `close` does; returns what was cut off of all. */
  close(): Promise<void>
  close(options: CloseOptions): Promise<CutOff>
}

const read = object<ReadAs<TenantsOptions, { runtime: 'server' | undefined }>>({
  options: aFunction("a function that returns a tenant's options"),
  most: optional(count(1), 10_000),
  limits: optional(oneOf(['own', 'shared']), 'own'),
  runtime: readRuntime,
})

/**
 * Creates the managers of an application with a separate client registration for each tenant. Each manager is created
 * when it is first used.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming every invalid option and what is allowed; `CLIENT_SIDE_FORBIDDEN` in
 * a page or worker of a browser.
 * @example
 * ```ts
 * const tenants = createTenants({
 *   options: (id) => ({
 *     issuers: { partner: oauthIssuer({ issuer: 'https://auth.example.com', credentials: () => credentialsOf(id) }) },
 *     apis: [{ baseUrl: 'https://api.example.com/', issuer: 'partner' }],
 *   }),
 * })
 * const fetch = createFetch(tenants.get('acme'))
 * ```
 */
export function createTenants<const Issuer extends string>(options: TenantsOptions<Issuer>): Tenants<Issuer> {
  refusingTo('create tenants', () => mustBeSupportedRuntime(own(options, 'runtime')))
  const {
    options: optionsOf,
    most,
    limits,
    runtime,
  } = refusingTo('create tenants', () => read(options, 'options'))
  const shared = sharedBudgets()
  const callsWithoutToken = new CallsWithoutToken()
  let common: RateLimiterFactory | undefined
  const sharedOf = (limiter: RateLimiterFactory | undefined): BudgetFactory => {
    const create = budgetsOf(limiter, true, (common ??= commonLimiter(limiter)))
    return (api, policy) => shared.budgetOf(api, policy, create)
  }
  const recent = recentTenants<Issuer>(most, (id, tokens) =>
    refusingTo(`use tenant "${id}"`, () => {
      const given = optionsOf(id)
      mustBeObject(given, 'options()')
      return {
        ...putTogether({ runtime, ...given }, tokens, {
          tenant: id,
          callsWithoutToken,
          budgetsOf:
            limits === 'shared' ? sharedOf : (limiter) => budgetsOf(limiter && limiterOf(id, limiter)),
        }),
        hasLimiter: limits === 'shared' || own(given, 'limiter') !== undefined,
      }
    }),
  )
  const close = async (bound: CloseOptions = {}): Promise<CutOff> => {
    const closing = recent.closeAll(bound)
    await closeWithin(bound, async () => {
      await closing
      await shared.close()
    })
    return closing
  }
  return {
    get(id) {
      refusingTo('use tenant', () => text('a tenant name')(id, 'id'))
      return recent.get(id)
    },
    close: close as Tenants['close'],
    [Symbol.asyncDispose]: async () => void (await close()),
  }
}

/** A limiter keeps one budget for each base URL, so a tenant's own one is kept under its name. */
function limiterOf(id: string, limiter: RateLimiterFactory): RateLimiterFactory {
  // half of a surrogate pair has no encoding of its own
  const name = encodeURIComponent(JSON.stringify(id).slice(1, -1))
  return (limited) => limiter({ ...limited, baseUrl: `${limited.baseUrl}#${name}` })
}
