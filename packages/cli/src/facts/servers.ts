import type { Application } from '../application/application.ts'
import { clockOffsetBy, longest, lookAtServer, type ServerFacts } from './server.ts'
import { failureCode } from '../failure-code.ts'

/**
 * Looks at every origin of the issuers and the APIs and returns what it saw.
 *
 * With an own `fetch` of the application, issuers are reached through it and APIs directly. An origin that is both is
 * then looked at twice.
 */
export async function lookAtServers({
  configuration: { issuers, apis },
  inspection: { fetch },
}: Application): Promise<ServerFacts[]> {
  const issuing = byOrigin(issuers.map(({ name, url }) => [url, `issuer ${name}`]))
  const calling = byOrigin(apis.map(({ baseUrl }) => [baseUrl, `API ${baseUrl}`]))
  if (fetch !== undefined)
    return Promise.all([
      ...Array.from(issuing, ([origin, roles]) => lookThroughFetch(origin, roles, fetch)),
      ...Array.from(calling, ([origin, roles]) => lookAtServer(origin, roles, false)),
    ])
  const origins = new Set([...issuing.keys(), ...calling.keys()])
  const rolesOf = (origin: string): string[] => [
    ...(issuing.get(origin) ?? []),
    ...(calling.get(origin) ?? []),
  ]
  return Promise.all(
    Array.from(origins, (origin) => lookAtServer(origin, rolesOf(origin), issuing.has(origin))),
  )
}

function byOrigin(urls: readonly (readonly [url: string, role: string])[]): ReadonlyMap<string, string[]> {
  const roles = new Map<string, string[]>()
  for (const [url, role] of urls) {
    const { origin } = new URL(url)
    roles.set(origin, [...(roles.get(origin) ?? []), role])
  }
  return roles
}

/**
 * Returns whether an issuer can be reached through the `fetch` that the application's token requests use, and whether
 * it can be reached directly. The `fetch` sends a HEAD request for `/` without credentials.
 */
async function lookThroughFetch(
  origin: string,
  roles: readonly string[],
  fetch: typeof globalThis.fetch,
): Promise<ServerFacts> {
  const [own, direct] = await Promise.all([reach(origin, fetch), lookAtServer(origin, roles, false)])
  const directly = direct.failure ?? direct.certificateFailure
  return { origin, roles, ...own, throughFetch: { ...(directly && { directly }) } }
}

async function reach(
  origin: string,
  fetch: typeof globalThis.fetch,
): Promise<Pick<ServerFacts, 'failure' | 'clockOffset'>> {
  try {
    const { headers, body } = await fetch(new URL('/', origin).href, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(longest),
    })
    await body?.cancel()
    return clockOffsetBy(headers.get('date'))
  } catch (error) {
    return { failure: failureCode(error) }
  }
}
