import type { Emit } from '../events.ts'
import { FairTurns } from '../queue/fair-turns.ts'
import { Routes } from '../send/routes.ts'
import type { CheckedApi } from './check-apis.ts'
import type { CheckedOptions } from './check-options.ts'

/** What registrations with the same list of APIs have in common: a manager and its tenants. */
export interface SharedByTenants {
  readonly routes: Routes
  /** The limits that they share, by API; `undefined` where each has its own. */
  readonly limits: ReadonlyMap<CheckedApi, FairTurns> | undefined
}

/** Returns what a registration shares with all others that have its APIs. */
export function sharedByTenants(
  { apis, limiter, tenants, tenantLimits }: CheckedOptions,
  emit: Emit,
): SharedByTenants {
  const isShared = tenants !== undefined && tenantLimits === 'shared'
  return { routes: new Routes(apis), limits: isShared ? sharedLimits(apis, limiter, emit) : undefined }
}

function sharedLimits(
  apis: readonly CheckedApi[],
  limiter: CheckedOptions['limiter'],
  emit: Emit,
): Map<CheckedApi, FairTurns> {
  const limits = new Map<CheckedApi, FairTurns>()
  for (const api of apis)
    if (api.ratePolicy !== undefined)
      limits.set(api, new FairTurns({ api: api.baseUrl, policy: api.ratePolicy, emit, limiter }))
  return limits
}
