import { refusesToken } from '../send/bearer-challenge.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import { checkOptions } from './check-options.ts'
import { TokenlaneError } from '../errors.ts'
import { managers } from './inspection.ts'
import { nodeDebugObserver } from '../log-observer.ts'
import { ManagedIssuer } from './managed-issuer.ts'
import type { TokenManagerOptions } from './manager-options.ts'
import { observersOf } from './observers.ts'
import type { Report } from '../send/api.ts'
import { ProtectedApi } from '../send/protected-api.ts'
import { register, type Registration } from './token-manager.ts'
import { Rejections } from '../send/rejections.ts'
import { mustBeSupportedRuntime } from '../runtime/supported-runtime.ts'
import { sharingBy } from '../store/token-store.ts'
import { faultOfProcess } from '../tls/tls-floor.ts'

/**
 * Puts a manager together of the issuers and the APIs that its options name.
 *
 * @param tokens what messages and events name as the manager.
 * @param tenant the name that its events carry.
 * @param others names of the other options, where all of them were given in one object, with those of the one issuer.
 * @throws TokenlaneError as `createTokenManager` does; `refusingTo` adds what could not be done.
 */
export function putTogether(
  given: TokenManagerOptions,
  tokens: object,
  { tenant, others }: { readonly tenant?: string; readonly others?: readonly string[] } = {},
): Registration {
  mustBeSupportedRuntime()
  const fault = faultOfProcess()
  if (fault !== undefined) throw new TokenlaneError('INSECURE_TRANSPORT', fault)
  const options = checkOptions(given, others)
  const debug = nodeDebugObserver() ?? []
  const observers = observersOf([options.observe, debug].flat(), tokens, tenant)
  const { emit } = observers
  const { fetch, store, limiter } = options
  const share = store && sharingBy(store, emit)
  const asking = { fetch, beforeRequest: (url: URL) => registration.exclude(url), manager: tokens }
  const issuers = new Map(
    Array.from(options.issuers, ([name, checked]) => [
      name,
      new ManagedIssuer({ ...checked, ...asking, issuer: name }, emit, share),
    ]),
  )
  const callsUnderWay = new CallsUnderWay()
  const apis = options.apis.map((api, index) => {
    const { token, contested } = issuers.get(api.issuer) as ManagedIssuer
    const option = others ? (options.issuers.get(api.issuer)?.option as string) : `apis[${index}].issuer`
    const rejections = new Rejections({ ...api, option, token, emit }, contested)
    const refuses = (report: Report): boolean => refusesToken(report, api.refusedStatuses)
    const shared = { option, limiter, token, rejections, refuses, callsUnderWay, emit }
    return new ProtectedApi({ ...api, ...shared })
  })
  const registration = register({ issuers, apis, callsUnderWay, observers })
  // those that metadata names are excluded when they are asked
  for (const { isDiscovered, url } of options.issuers.values()) if (!isDiscovered) registration.exclude(url)
  managers.set(tokens, { options, issuers })
  return registration
}
