import type { TokenlaneEvent } from '../events.ts'
import { printable } from '../foreign-text.ts'
import { describeEvent } from '../log-observer.ts'

/** Printed warnings by code: the managers of many tenants would repeat them. */
const said = new Map<string, Set<string>>()
const most = 100

/** What a warning is about: a likely mistake, or a failure that calls wait out in silence. Other events are no warning. */
const subjectsOf: {
  readonly [Type in TokenlaneEvent['type']]?: (
    event: Extract<TokenlaneEvent, { readonly type: Type }>,
  ) => string | undefined
} = {
  'route.missed': ({ origin }) => origin,
  'authorization.kept': ({ api }) => api,
  'slots.blocked': ({ api }) => api,
  'client.unattached': ({ api }) => api,
  'transport.insecure': ({ issuer, hosts }) => `${issuer} ${hosts.join(' ')}`,
  'policy.missing': ({ api }) => api,
  'rejection.repeated': ({ issuer, api }) => `${issuer} ${api}`,
  'scope.narrowed': ({ issuer, missing }) => `${issuer} ${missing.join(' ')}`,
  'secret.expiring': ({ issuer, clientId, threshold }) => `${issuer} ${clientId} ${threshold}`,
  'limiter.failed': ({ reason }) => reason,
  'renewal.failed': ({ tokenStillValid, reason }) => (tokenStillValid ? undefined : reason),
}

/**
 * Prints what a person should know, for a manager that nothing observes: as a warning of the process, once for each
 * subject. The warning's code turns it off: `node --disable-warning=TOKENLANE_ROUTE_MISSED`.
 */
export function warn(event: TokenlaneEvent): void {
  const subject = subjectsOf[event.type]?.(event as never)
  const code = `TOKENLANE_${event.type.replace('.', '_').toUpperCase()}`
  const subjects = said.get(code) ?? new Set()
  if (subject === undefined || subjects.has(subject) || subjects.size >= most) return
  said.set(code, subjects.add(subject))
  globalThis.process?.emitWarning?.(printable(describeEvent(event), 500), { type: 'TokenlaneWarning', code })
}
