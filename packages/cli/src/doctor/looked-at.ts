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

/**
 * Returns what the doctor looked at, or tried to look at.
 *
 * @param isCallAsked whether a call was asked for: without a token, none is made.
 */
export function lookedAt(facts: Facts, isCallAsked: boolean): Looked[] {
  const { servers, tokens, shared, call, resources, packages, configuration, extraAuthorities: extra } = facts
  const all: Looked[] = []
  const add = (what: string, subject: string, text: string, data?: object): void => {
    const said = { what, subject: printable(subject, 1_000), text: printable(text, 1_000) }
    all.push(data ? { ...said, data: { ...data } } : said)
  }

  for (const server of servers) {
    const { origin, certificate, ...data } = server
    add('server', origin, serverLine(server), { ...data, certificateUntil: certificate?.until })
  }
  for (const { issuer, lifetime, duration, failure } of tokens) {
    const after = `after ${Math.round(duration)} ms`
    const lives = lifetime === undefined ? 'none' : `lives for ${Math.round(lifetime / 1_000)} s, received`
    add('token', issuer, `token from ${issuer}: ${lives} ${after}`, {
      lifetime,
      duration,
      code: failure?.code,
    })
  }
  for (const { issuer, clients: tried = [] } of tokens) {
    const clients = tried.map(({ clientId, outcome }) => ({ clientId, outcome }))
    const texts = clients.map(({ clientId, outcome }) => `${clientId} ${outcome}`).join(', ')
    if (clients.length > 1) add('clients', issuer, `clients of ${issuer}: ${texts}`, { clients })
  }
  for (const trial of shared) {
    const { part, server, failedAt, failure } = trial
    add('shared', part, sharedLine(trial), { server, failedAt, failure })
  }
  if (call) add('call', call.url, callLine(call), { status: call.status, duration: call.duration })
  else if (configuration.issuers.length > 0)
    add('call', '', noCallLine(configuration.apis.length, isCallAsked))
  for (const { api, resource } of resources)
    add('metadata', api, `metadata of API ${api}: ${resource}`, { resource })
  if (extra) add('authorities', extra.file, `NODE_EXTRA_CA_CERTS ${extra.file}: ${extra.count} loaded`, extra)
  add('runtime', 'Node', `Node ${process.versions.node}`, { version: process.versions.node })
  for (const { name, version } of packages) add('package', name, `${name} ${version}`, { version })
  return all
}

function noCallLine(apis: number, isCallAsked: boolean): string {
  if (apis === 0) return 'no API is known: only issuers were checked'
  return `no call made: ${isCallAsked ? 'there is no token' : "pass an API's URL with --url to make one"}`
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
