import type { TokenlaneEvent } from '../events.ts'
import { printable } from '../foreign-text.ts'
import { describeEvent } from '../log-observer.ts'

/** Printed warnings by code: the managers of many tenants would repeat them. */
const said = new Map<string, Set<string>>()
const most = 100

/**
 * Prints what a person should know, for a manager that nothing observes: as a warning of the process, once for each
 * subject. The warning's code turns it off: `node --disable-warning=TOKENLANE_ROUTE_MISSED`.
 */
export function warn(event: TokenlaneEvent): void {
  const subject = subjectOf(event)
  const code = `TOKENLANE_${event.type.replace('.', '_').toUpperCase()}`
  const subjects = said.get(code) ?? new Set()
  if (subject === undefined || subjects.has(subject) || subjects.size >= most) return
  said.set(code, subjects.add(subject))
  globalThis.process?.emitWarning?.(printable(describeEvent(event), 500), { type: 'TokenlaneWarning', code })
}

/** Returns what a warning is about: a likely mistake, or a failure that calls wait out in silence. */
function subjectOf(event: TokenlaneEvent): string | undefined {
  const { type } = event
  if (type === 'route.missed') return event.origin
  if (type === 'authorization.kept' || type === 'client.unattached' || type === 'policy.missing')
    return event.api
  if (type === 'rejection.repeated') return `${event.issuer} ${event.api}`
  if (type === 'scope.narrowed') return `${event.issuer} ${event.missing.join(' ')}`
  if (type === 'renewal.failed' && !event.tokenStillValid) return event.reason
  return undefined
}
