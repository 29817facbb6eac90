import { printable } from '@tokenlane/core/adapter'

import type { CallFacts } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'
import type { Reach, ServerFacts } from '../facts/server.ts'
import type { SharedFacts } from '../facts/shared.ts'

export interface Looked {
  /** What it is, such as `server`, `token`, `call` or `package`. */
  readonly what: string
  /** Which one: an origin, an issuer, a path, a name. */
  readonly subject: string
  /** What was seen, as one line of text. */
  readonly text: string
  /** The same as data: times are in milliseconds, and what is not known is left out. */
  readonly data?: Readonly<Record<string, unknown>>
}

const one = (what: string, subject: string, text: string, data?: object): Looked => ({
  what,
  subject: printable(subject, 1_000),
  text: printable(text, 1_000),
  ...(data && { data: { ...data } }),
})

/**
 * Returns what the doctor looked at, or tried to look at.
 *
 * @param isCallAsked whether a call was asked for: without a token, none is made.
 */
export function lookedAt(facts: Facts, isCallAsked: boolean): Looked[] {
  const { servers, tokens, shared, call, resources, tls, axiosClients, packages, configuration } = facts
  const { extraAuthorities: extra, envFile } = facts
  const agents = tls.map(({ where }) => where).filter((where) => where !== 'this process')
  return [
    ...(envFile && envFile.cut.length > 0
      ? [
          one(
            'env-file',
            '--env-file',
            `--env-file: cut at an unquoted #: ${envFile.cut.join(', ')}`,
            envFile,
          ),
        ]
      : []),
    ...servers.map((server) => {
      const { origin, certificate, ...data } = server
      return one('server', origin, serverLine(server), { ...data, certificateUntil: certificate?.until })
    }),
    ...tokens.map(({ issuer, lifetime, duration, failure }) => {
      const after = `after ${Math.round(duration)} ms`
      const seen =
        lifetime === undefined
          ? `none ${after}`
          : `lives for ${Math.round(lifetime / 1_000)} s, received ${after}`
      return one('token', issuer, `token from ${issuer}: ${seen}`, {
        lifetime,
        duration,
        code: failure?.code,
      })
    }),
    ...tokens.flatMap(({ issuer, assertionFiles = [] }) =>
      assertionFiles.map((file) => {
        const seen = `${file.path}, issued by ${file.issuer || 'nobody'}, replaced ${file.replacedAt.toISOString()}`
        return one('assertion', issuer, `assertion of ${issuer}: ${seen}`, file)
      }),
    ),
    ...tokens.flatMap(({ issuer, clients = [] }) => {
      const seen = clients.map(({ clientId, outcome }) => ({ clientId, outcome }))
      const texts = seen.map(({ clientId, outcome }) => `${clientId} ${outcome}`).join(', ')
      return clients.length < 2
        ? []
        : [one('clients', issuer, `clients of ${issuer}: ${texts}`, { clients: seen })]
    }),
    ...shared.map((trial) => {
      const { part, server, failedAt, failure } = trial
      return one('shared', part, sharedLine(trial), { server, failedAt, failure })
    }),
    ...(call
      ? [one('call', call.url, callLine(call), { status: call.status, duration: call.duration })]
      : []),
    ...(call || configuration.issuers.length === 0
      ? []
      : [
          one(
            'call',
            '',
            configuration.apis.length === 0
              ? 'no API is known: only issuers were checked'
              : `no call made: ${isCallAsked ? 'there is no token' : "pass an API's URL with --url to make one"}`,
          ),
        ]),
    ...resources.map(({ api, resource }) =>
      one('metadata', api, `metadata of API ${api}: ${resource}`, { resource }),
    ),
    ...(extra
      ? [one('authorities', extra.file, `NODE_EXTRA_CA_CERTS ${extra.file}: ${extra.count} loaded`, extra)]
      : []),
    ...(agents.length > 0 ? [one('tls', agents.join(', '), `TLS settings: ${agents.join(', ')}`)] : []),
    ...axiosClients.map(({ name, hasTokens }) =>
      one('axios', name, `axios client ${name}: ${hasTokens ? '' : 'no '}tokens attached`, { hasTokens }),
    ),
    one('runtime', 'Node', `Node ${process.versions.node}`, { version: process.versions.node }),
    ...packages.map(({ name, version }) => one('package', name, `${name} ${version}`, { version })),
  ]
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
