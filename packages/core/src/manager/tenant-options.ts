import { Faults, refusingTo } from '../options/faults.ts'
import { mustBeObject, refuse, refuseUnknown, shape } from '../options/check.ts'
import { checkOptions, type CheckedOptions } from './check-options.ts'
import type { TenantOptions, TokenManagerOptions } from './manager-options.ts'

const ownOptions: readonly string[] = Object.keys({ issuers: 0, apis: 0 } satisfies Record<
  keyof TenantOptions,
  0
>)

/**
 * Returns the options of one tenant: the manager's, with what the tenant has of its own.
 *
 * A tenant without APIs of its own has the very list of the manager, so that 10,000 tenants keep it once.
 *
 * Every issuer needs credentials of the tenant's: those of the manager, or of another tenant, must never stand in.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT`, naming the tenant and all options that are wrong.
 */
export function tenantOptions(
  id: string,
  options: TokenManagerOptions,
  manager: Pick<CheckedOptions, 'tenants' | 'apis' | 'issuers'>,
): CheckedOptions {
  const given = manager.tenants?.(id)
  return refusingTo(`use tenant "${id}"`, () => {
    mustBeObject(given, `tenants("${id}")`, ownOptions)
    const checked = checkOptions({
      ...options,
      issuers: ownIssuers(options.issuers, given['issuers']),
      apis: (given['apis'] ?? options.apis) as TokenManagerOptions['apis'],
    })
    const apis = given['apis'] === undefined ? manager.apis : checked.apis
    const issuers = withSharedPlaces(checked.issuers, manager.issuers)
    return { ...checked, apis, issuers, limiter: limiterOf(id, checked.limiter) }
  })
}

function ownIssuers(issuers: TokenManagerOptions['issuers'], given: unknown): TokenManagerOptions['issuers'] {
  mustBeObject(given, 'issuers')
  const names = Object.keys(issuers)
  const faults = new Faults()
  for (const name of Object.keys(given))
    if (!names.includes(name)) faults.collect(refuseUnknown, name, 'issuers', names)
  for (const name of names) faults.collect(mustHaveCredentials, given[name], `issuers.${name}`)
  faults.raise()
  return Object.fromEntries(
    names.map((name) => [name, { ...issuers[name], ...(given[name] as object) }]),
  ) as unknown as TokenManagerOptions['issuers']
}

/** A parsed URL takes 300 bytes: issuers that differ in their credentials alone have one. */
function withSharedPlaces(
  issuers: CheckedOptions['issuers'],
  shared: CheckedOptions['issuers'],
): CheckedOptions['issuers'] {
  return new Map(
    Array.from(issuers, ([name, issuer]) => {
      const place = shared.get(name)?.place
      return [name, place?.href === issuer.place.href ? { ...issuer, place } : issuer]
    }),
  )
}

function mustHaveCredentials(given: unknown, path: string): void {
  mustBeObject(given, path)
  const own = Object.hasOwn(given, 'credentials') ? given['credentials'] : undefined
  if (own === undefined) refuse(`${path}.credentials`, shape(own), 'credentials of the tenant itself')
}

/** A limiter keeps one budget for each base URL: limits of a tenant's own are kept under its name. */
function limiterOf(id: string, limiter: CheckedOptions['limiter']): CheckedOptions['limiter'] {
  return limiter && ((api) => limiter({ ...api, baseUrl: `${api.baseUrl}#${encodeURIComponent(id)}` }))
}
