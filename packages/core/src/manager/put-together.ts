import { refusesToken } from '../send/bearer-challenge.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import type { CheckedOptions } from './check-options.ts'
import type { Emit } from '../events.ts'
import { ManagedIssuer } from './managed-issuer.ts'
import { ProtectedApi } from '../send/protected-api.ts'
import { Registration } from './registration.ts'
import { RejectionBackoff } from '../send/rejection-backoff.ts'
import { sharingBy } from '../store/token-store.ts'

/** A manager, and what it was put together of. */
interface PutTogether {
  readonly registration: Registration
  readonly issuers: ReadonlyMap<string, ManagedIssuer>
}

/** Makes the issuers and the APIs that the options name, and puts them together. */
export function putTogether(options: CheckedOptions, emit: Emit): PutTogether {
  const { apis, fetch, store, limiter } = options
  const share = store && sharingBy(store, emit)
  const askOptions = { fetch, beforeRequest: (url: URL) => registration.exclude(url), manager: emit?.manager }
  const issuers = new Map<string, ManagedIssuer>()
  for (const [name, checked] of options.issuers)
    issuers.set(name, new ManagedIssuer({ name, checked, askOptions, emit, share }))
  const callsUnderWay = new CallsUnderWay()
  const protectedApis = apis.map((api, index) => {
    const { token } = issuers.get(api.issuer) as ManagedIssuer
    const rejections = new RejectionBackoff(token)
    const shared = { index, limiter, token, rejections, refuses: refusesToken, callsUnderWay, emit }
    return new ProtectedApi({ ...api, ...shared })
  })
  const hasLimiter = limiter !== undefined
  const registration = new Registration({ issuers, apis: protectedApis, callsUnderWay, emit, hasLimiter })
  // those that metadata names are excluded when they are asked
  for (const { isDiscovered, url } of options.issuers.values()) if (!isDiscovered) registration.exclude(url)
  return { registration, issuers }
}
