import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { printable } from '@tokenlane/core/adapter'

import { CannotLook, exitStatus, WrongUsage } from '../exit-status.ts'
import { clientAuthentications, type ClientAuthentication } from '../metadata/authorization-server.ts'
import { bootstrapText, environmentText, type Setup } from '../init/bootstrap.ts'
import {
  type Challenge,
  challengeOf,
  contains,
  metadataUrls,
  type ProtectedResource,
  readProtectedResource,
} from '../metadata/protected-resource.ts'
import { askableUrl, getPublic, isOnThisMachine, serverFor, typedUrl } from '../metadata/public-response.ts'
import type { Questions } from '../init/questions.ts'
import { print, tell } from '../print.ts'
import {
  authorizationServer,
  type Known,
  type ServerOptions,
  unconfirmedServer,
} from '../init/trusted-server.ts'

export interface InitOptions extends ServerOptions {
  readonly name?: string
  readonly baseUrl?: string
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
 * Sends requests without credentials only, and only to servers that the person typed or confirmed.
 *
 * @param questions asks the person; `undefined` if there is no terminal: then options decide, and the usual values.
 * @throws WrongUsage for a URL, a name or a file that cannot be used; CannotLook if a server does not respond, or if something is
 * missing and nobody can be asked.
 */
export async function init(url: string, options: InitOptions, questions?: Questions): Promise<number> {
  const api = typedUrl(url, 'The URL')
  const name = options.name ?? nameFor(api)
  if (!isName(name))
    throw new WrongUsage('--name must consist of letters, digits and _, and begin with a letter')

  const { write: file } = options
  // said before there are questions to answer
  if (file !== undefined && existsSync(file)) throw new WrongUsage(`Cannot write ${file}: it exists already`)

  const challenge = await knock(api)
  if (challenge === undefined) return exitStatus.findings
  const described = await describe(api, challenge, questions)
  if (described?.needsProof)
    tell('It only accepts tokens bound to a key (DPoP). Tokenlane sends bearer tokens.')

  if (questions === undefined) mustBeConfirmed(api, described, options)
  const server = await authorizationServer(api, described, options, questions)
  const setup = await complete(api, name, challenge, described, server, options, questions)
  if (file !== undefined) write(file, bootstrapText(setup))
  const texts = [...(file === undefined ? [bootstrapText(setup)] : []), environmentText(setup)]
  print(texts.join('\n').trimEnd())
  tell(
    'None of this is fetched again at run time. Fill in the values, keep .env out of version control, and run `tokenlane doctor`.',
  )
  return exitStatus.fine
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

/** Reads the metadata of the API. It is on the API's own origin, or where the person confirms it. */
async function describe(
  api: URL,
  { resourceMetadata }: Challenge,
  questions: Questions | undefined,
): Promise<ProtectedResource | undefined> {
  const named = resourceMetadata === undefined ? undefined : serverFor(api, resourceMetadata)
  const isForeign = named !== undefined && named.origin !== api.origin
  if (isForeign) tell(`It says that its metadata is on another server, ${named.origin}.`)
  const isConfirmed =
    isForeign && (await questions?.confirm(`Ask ${named.origin} for the metadata of ${api.origin}?`)) === true
  const places = named !== undefined && (!isForeign || isConfirmed) ? [named] : metadataUrls(api)
  const found = await readProtectedResource(api, places)
  if (typeof found === 'object') {
    const { resource, authorizationServers } = found
    const servers = authorizationServers.map((server) => printable(server, 100)).join(', ')
    const which =
      authorizationServers.length > 1 ? 'these authorization servers' : 'this authorization server'
    const names = servers === '' ? 'no authorization server' : `${which}: ${servers}`
    tell(`Its metadata calls it ${resource.href} and names ${names}.`)
    return found
  }
  tell(found ?? `${api.origin} publishes no metadata (RFC 9728), so it does not say who issues its tokens.`)
  return undefined
}

/** Throws what nobody can be asked and no option says: whom to trust, and where the token may go. */
function mustBeConfirmed(api: URL, described: ProtectedResource | undefined, options: InitOptions): void {
  const unsaid: string[] = []
  if (options.issuer === undefined && options.tokenEndpoint === undefined)
    unsaid.push(unconfirmedServer(api, described?.authorizationServers))
  // the API alone says so, and every URL below would get the token (RFC 9728 §3.3)
  const isWider = described !== undefined && withoutSlash(described.resource) !== withoutSlash(api)
  if (isWider && options.baseUrl === undefined)
    unsaid.push(
      `The API's metadata calls it ${described.resource.href}, which is more than ${api.href}. ` +
        `If all of that may get the token, confirm it: --base-url ${baseOf(described)}`,
    )
  if (unsaid.length > 0) throw new CannotLook(unsaid.join('\n'))
}

function baseOf({ resource }: ProtectedResource): string {
  return resource.origin + resource.pathname
}

async function complete(
  api: URL,
  name: string,
  challenge: Challenge,
  described: ProtectedResource | undefined,
  server: Known,
  options: InitOptions,
  questions: Questions | undefined,
): Promise<Setup> {
  const ask = async (
    given: string | undefined,
    question: string,
    usual: string,
    isRight?: (answer: string) => boolean,
  ): Promise<string> => given ?? (await questions?.ask(question, usual, isRight)) ?? usual
  const offered = server.clientAuthentications ?? []
  if (server.clientAuthentications?.length === 0)
    tell('It lists no client authentication method that Tokenlane knows: ask its operator.')
  const method = await ask(
    options.clientAuthentication,
    `How does the client authenticate (${(offered.length > 0 ? offered : clientAuthentications).join(', ')})?`,
    offered[0] ?? 'client_secret_post',
    isMethod,
  )
  if (described !== undefined && described.scopes.length > 0)
    tell(`The API lists these scopes: ${printable(described.scopes.join(' '), 300)}`)
  const asked = challenge.scope ?? ''
  const scope = await ask(options.scope, 'Which scope?', isScope(asked) ? asked : '', isScope)
  if (!isScope(scope)) throw new WrongUsage('--scope must be names separated by single spaces')
  const usualBase = described === undefined ? `${api.origin}/` : baseOf(described)
  const isBase = (answer: string): boolean => {
    const base = askableUrl(answer)
    return base !== undefined && base.search === '' && contains(base, api)
  }
  const baseUrl = await ask(options.baseUrl, "What do all the API's URLs begin with?", usualBase, isBase)
  if (!isBase(baseUrl)) throw new WrongUsage(`--base-url must be a URL that ${api.href} begins with`)
  return {
    name,
    issuer: server.issuer,
    tokenEndpoint: server.tokenEndpoint.href,
    clientAuthentication: method as ClientAuthentication,
    scope,
    resource: options.resource === false ? undefined : described?.resource.href,
    baseUrl,
    insecureLoopback: isOnThisMachine(server.tokenEndpoint) || isOnThisMachine(api),
  }
}

function isMethod(text: string): text is ClientAuthentication {
  return clientAuthentications.some((method) => method === text)
}

function withoutSlash({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/$/, '')
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
