import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { printable } from '@tokenlane/core/adapter'

import { exitStatus, WrongUsage } from '../exit-status.ts'
import { bootstrapText, environmentText } from '../init/bootstrap.ts'
import { authorizationServer, type ServerOptions } from '../init/trusted-server.ts'
import type { ClientAuthentication } from '../metadata/authorization-server.ts'
import {
  type Challenge,
  challengeOf,
  contains,
  metadataUrls,
  type ProtectedResource,
  readProtectedResource,
} from '../metadata/protected-resource.ts'
import { askableUrl, getPublic, isOnThisMachine, serverFor, typedUrl } from '../metadata/public-response.ts'
import { print, tell } from '../print.ts'

export interface InitOptions extends ServerOptions {
  readonly name?: string
  readonly clientAuthentication?: ClientAuthentication
  readonly scope?: string
  /** False: token requests name no `resource`. */
  readonly resource?: boolean
  readonly write?: string
}

/**
 * Reads what an API and its authorization server publish, and prints a bootstrap and an `.env` with empty values, or
 * writes the bootstrap to a new file. Returns the exit status.
 *
 * Sends requests without credentials only, and only to servers that the person named.
 *
 * @throws WrongUsage for an option that cannot be used; CannotLook if a server does not respond, or if something is missing.
 */
export async function init(url: string, options: InitOptions): Promise<number> {
  const api = typedUrl(url, 'The URL')
  const { name = nameFor(api), write: file } = options
  mustBeUsable(api, { ...options, name })
  const challenge = await knock(api)
  if (challenge === undefined) return exitStatus.findings
  const described = await describe(api, challenge)
  const server = await authorizationServer(api, described, options)
  const { resource } = described ?? {}
  const { scope: asked = '' } = challenge
  const setup = {
    name,
    issuer: server.issuer,
    tokenEndpoint: server.tokenEndpoint.href,
    clientAuthentication:
      options.clientAuthentication ?? server.clientAuthentications?.[0] ?? 'client_secret_post',
    scope: options.scope ?? (isScope(asked) ? asked : ''),
    resource: options.resource === false ? undefined : resource?.href,
    baseUrl: options.baseUrl ?? (resource ? resource.origin + resource.pathname : `${api.origin}/`),
    insecureLoopback: isOnThisMachine(server.tokenEndpoint) || isOnThisMachine(api),
  }
  if (file !== undefined) write(file, bootstrapText(setup))
  const texts = [...(file === undefined ? [bootstrapText(setup)] : []), environmentText(setup)]
  print(texts.join('\n').trimEnd())
  tell(
    'None of this is fetched again at run time. Fill in the values, keep .env out of version control, and run `tokenlane doctor`.',
  )
  return exitStatus.fine
}

/** @throws WrongUsage before anything is sent. */
function mustBeUsable(api: URL, { name = '', scope = '', baseUrl, write: file }: InitOptions): void {
  if (!isName(name))
    throw new WrongUsage('--name must consist of letters, digits and _, and begin with a letter')
  if (file !== undefined && existsSync(file)) throw new WrongUsage(`Cannot write ${file}: it exists already`)
  if (!isScope(scope)) throw new WrongUsage('--scope must be names separated by single spaces')
  const base = baseUrl === undefined ? undefined : askableUrl(baseUrl)
  if (baseUrl !== undefined && !(base && base.search === '' && contains(base, api)))
    throw new WrongUsage(`--base-url must be a URL that ${api.href} begins with`)
}

/** Writes a new file, in a new folder if need be. One that is there may be the person's work, and is never replaced. */
function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    throw new WrongUsage(`Cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
  tell(`Wrote ${file}.`)
}

/** Calls the API without a token, and tells what it says. Returns `undefined` if it is somewhere else. */
async function knock(api: URL): Promise<Challenge | undefined> {
  const { status, wwwAuthenticate, location } = await getPublic(api, { body: false })
  const challenge = challengeOf(wwwAuthenticate)
  const at = api.origin + api.pathname
  if (status >= 300 && status < 400) {
    tell(`${at} redirects to ${printable(location ?? 'nowhere')}. If that is the API, use that URL instead.`)
    return undefined
  }
  if (challenge.schemes.includes('bearer')) tell(`${at} asks for a bearer token (status ${status}).`)
  else if (challenge.schemes.length > 0)
    tell(
      `${at} asks for ${printable(challenge.schemes.join(', '), 60)}, not for a bearer token (status ${status}).`,
    )
  else tell(`${at} responds with status ${status}, without asking for a token.`)
  return challenge
}

/** Reads the metadata of the API, on the API's own origin alone. */
async function describe(api: URL, { resourceMetadata }: Challenge): Promise<ProtectedResource | undefined> {
  const named = resourceMetadata === undefined ? undefined : serverFor(api, resourceMetadata)
  const isForeign = named !== undefined && named.origin !== api.origin
  if (isForeign) tell(`It says that its metadata is on another server, ${named.origin}, which is not asked.`)
  const found = await readProtectedResource(api, named && !isForeign ? [named] : metadataUrls(api))
  if (typeof found !== 'object') {
    tell(found ?? `${api.origin} publishes no metadata (RFC 9728), so it does not say who issues its tokens.`)
    return undefined
  }
  const { resource, authorizationServers, scopes, needsProof } = found
  const servers = authorizationServers.map((server) => printable(server, 100)).join(', ')
  const which = authorizationServers.length > 1 ? 'these authorization servers' : 'this authorization server'
  tell(
    `Its metadata calls it ${resource.href} and names ${servers === '' ? 'no authorization server' : `${which}: ${servers}`}.`,
  )
  if (needsProof) tell('It only accepts tokens bound to a key (DPoP). Tokenlane sends bearer tokens.')
  if (scopes.length > 0) tell(`The API lists these scopes: ${printable(scopes.join(' '), 300)}`)
  return found
}

/** Returns whether a text is scopes, or empty (RFC 6749 §3.3). */
function isScope(text: string): boolean {
  return /^(?:[!#-[\]-~]+(?: [!#-[\]-~]+)*)?$/.test(text)
}

function isName(text: string): boolean {
  return /^[a-z]\w{0,40}$/i.test(text)
}

/** Returns the first label of the host as a name, such as `mcp` of `mcp.example.com`. */
function nameFor({ hostname }: URL): string {
  const name = (hostname.split('.')[0] ?? '').replaceAll(/\W/g, '_')
  return isName(name) ? name : 'api'
}
