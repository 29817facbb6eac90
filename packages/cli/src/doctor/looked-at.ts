import type { Facts } from '../facts/facts.ts'
import type { ServerFacts } from '../facts/server.ts'
import type { SharedFacts } from '../facts/shared.ts'

/** Returns one line for each thing that the doctor looked at, or tried to look at. */
export function lookedAt({ servers, tokens, shared, call, tls, packages }: Facts): string[] {
  const agents = tls.filter(({ where }) => where !== 'this process')
  return [
    ...servers.map(serverLine),
    ...tokens.map(({ issuer, lifetime, duration }) => {
      const what = lifetime === undefined ? 'none' : `lives for ${Math.round(lifetime / 1_000)} s`
      return `token of ${issuer}: ${what}, after ${Math.round(duration)} ms`
    }),
    ...tokens.flatMap(({ issuer, clients = [] }) =>
      clients.length < 2
        ? []
        : [
            `clients of ${issuer}: ${clients.map(({ clientId, outcome }) => `${clientId} ${outcome}`).join(', ')}`,
          ],
    ),
    ...shared.map(sharedLine),
    ...(call ? [`call ${call.url}: ${call.status ?? 'no response'}`] : []),
    ...(agents.length > 0 ? [`TLS settings: ${agents.map(({ where }) => where).join(', ')}`] : []),
    `Node ${process.versions.node}`,
    ...packages.map(({ name, version }) => `${name} ${version}`),
  ]
}

function serverLine({ origin, roles, protocol, failure, throughFetch }: ServerFacts): string {
  const who = `${origin} (${roles.join(', ')})`
  if (throughFetch === undefined) return `${who}: ${failure ?? protocol ?? 'no TLS'}`
  const { directly = 'reached' } = throughFetch
  return `${who}: through the \`fetch\` of the application: ${failure ?? 'reached'}; directly: ${directly}`
}

function sharedLine({ part, server, failure, failedAt }: SharedFacts): string {
  if (failure !== undefined) return `${part}: ${failedAt} failed (${failure})`
  if (server === undefined) return `${part}: works; its server is unknown`
  const { name, refused } = server
  return refused === undefined
    ? `${part}: works, on ${name}`
    : `${part}: works, on ${name}; could not look at its eviction policy, since it refuses ${refused}`
}
