import { printable } from '@tokenlane/core/adapter'

import type { CallFacts } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'
import type { Reach, ServerFacts } from '../facts/server.ts'
import type { SharedFacts } from '../facts/shared.ts'

/**
 * Returns one line for each thing that the doctor looked at, or tried to look at.
 *
 * @param isCallAsked whether a call was asked for: without a token, none is made.
 */
export function lookedAt(facts: Facts, isCallAsked: boolean): string[] {
  const {
    servers,
    tokens,
    shared,
    call,
    resources,
    tls,
    axiosClients,
    packages,
    extraAuthorities: extra,
    configuration,
    envFile: { cut } = { cut: [] },
  } = facts
  const agents = tls.filter(({ where }) => where !== 'this process')
  return [
    ...(cut.length > 0 ? [`--env-file: cut at an unquoted #: ${cut.join(', ')}`] : []),
    ...servers.map(serverLine),
    ...tokens.map(({ issuer, lifetime, duration }) => {
      const after = `after ${Math.round(duration)} ms`
      return lifetime === undefined
        ? `token from ${issuer}: none ${after}`
        : `token from ${issuer}: lives for ${Math.round(lifetime / 1_000)} s, received ${after}`
    }),
    ...tokens.flatMap(({ issuer, assertionFiles = [] }) =>
      assertionFiles.map(
        ({ path, issuer: signer, replacedAt }) =>
          `assertion of ${issuer}: ${path}, issued by ${signer || 'nobody'}, replaced ${replacedAt.toISOString()}`,
      ),
    ),
    ...tokens.flatMap(({ issuer, clients = [] }) =>
      clients.length < 2
        ? []
        : [
            `clients of ${issuer}: ${clients.map(({ clientId, outcome }) => `${clientId} ${outcome}`).join(', ')}`,
          ],
    ),
    ...shared.map(sharedLine),
    ...(call ? [callLine(call)] : []),
    ...(call || configuration.issuers.length === 0
      ? []
      : [
          configuration.apis.length === 0
            ? 'no API is known: only issuers were checked'
            : `no call made: ${isCallAsked ? 'there is no token' : "pass an API's URL with --url to make one"}`,
        ]),
    ...resources.map(({ api, resource }) => `metadata of API ${api}: ${resource}`),
    ...(extra ? [`NODE_EXTRA_CA_CERTS ${extra.file}: ${extra.count} loaded`] : []),
    ...(agents.length > 0 ? [`TLS settings: ${agents.map(({ where }) => where).join(', ')}`] : []),
    ...axiosClients.map(
      ({ name, hasTokens }) => `axios client ${name}: ${hasTokens ? '' : 'no '}tokens attached`,
    ),
    `Node ${process.versions.node}`,
    ...packages.map(({ name, version }) => `${name} ${version}`),
  ].map((line) => printable(line, 1_000))
}

function serverLine({ origin, roles, proxy, throughProxy, throughFetch, ...reach }: ServerFacts): string {
  const { failure } = reach
  const who = `${origin} (${roles.join(', ')})`
  const way = proxy && `through ${proxy.variable} (${proxy.place})`
  if (throughProxy) return `${who}: ${reached(reach)}; ${way}, which axios uses: ${reached(throughProxy)}`
  if (throughFetch === undefined) return `${who}: ${way ? `${way}: ` : ''}${reached(reach)}`
  const { directly = 'reached' } = throughFetch
  return `${who}: through the application's \`fetch\`: ${failure ?? 'reached'}; directly: ${directly}`
}

function callLine({ url, api, status, duration }: CallFacts): string {
  const outcome = status ?? (api === undefined ? 'not made: outside every API' : 'no response')
  return `call ${url}: ${outcome}${duration === undefined ? '' : ` after ${Math.round(duration)} ms`}`
}

function reached({ failure, protocol }: Reach): string {
  return failure ?? protocol ?? 'no TLS'
}

function sharedLine({ part, server, failure, failedAt }: SharedFacts): string {
  if (failure !== undefined) return `${part}: ${failedAt} failed (${failure})`
  if (server === undefined) return `${part}: works; its server is unknown`
  const { name, refused } = server
  return refused === undefined
    ? `${part}: works, on ${name}`
    : `${part}: works, on ${name}; could not read its eviction policy, since it refuses ${refused}`
}
