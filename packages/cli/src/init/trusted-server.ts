// The client's secret goes to the authorization server that the person names, and to none that an API names alone.
import { CannotLook } from '../exit-status.ts'
import {
  type AuthorizationServer,
  issuerFor,
  readAuthorizationServer,
} from '../metadata/authorization-server.ts'
import type { ProtectedResource } from '../metadata/protected-resource.ts'
import { serverFor, typedUrl } from '../metadata/public-response.ts'
import { tell } from '../print.ts'

export interface ServerOptions {
  readonly issuer?: string
  readonly tokenEndpoint?: string
  readonly baseUrl?: string
}

type Known = Pick<AuthorizationServer, 'tokenEndpoint'> & Partial<AuthorizationServer>

/**
 * Reads the metadata of the server that the person names.
 *
 * @throws CannotLook with everything that no option says: whom to trust, and where the token may go.
 */
export async function authorizationServer(
  api: URL,
  described: ProtectedResource | undefined,
  options: ServerOptions,
): Promise<Known> {
  const named = described?.authorizationServers ?? []
  const { issuer: given, tokenEndpoint } = options
  const unsaid = [
    ...(given === undefined && tokenEndpoint === undefined ? [unconfirmedServer(api, named)] : []),
    ...(options.baseUrl === undefined ? unconfirmedBase(api, described) : []),
  ]
  if (unsaid.length > 0) throw new CannotLook(unsaid.join('\n'))
  if (tokenEndpoint !== undefined) return { tokenEndpoint: typedUrl(tokenEndpoint, '--token-endpoint') }
  const issuer = issuerFor(typedUrl(given ?? '', '--issuer'))
  if (named.length > 0 && !named.some((one) => URL.parse(one)?.href === issuer.href))
    tell(`You trust ${issuer.href}, which is not one of those.`)
  const found = await readAuthorizationServer(issuer)
  if (typeof found === 'string') {
    tell(`${found}.`)
    throw new CannotLook('Pass the URL of its token endpoint: --token-endpoint <url>')
  }
  tellOf(found, issuer)
  return found
}

function unconfirmedServer(api: URL, named: readonly string[]): string {
  const [first] = named.flatMap((one) => serverFor(api, one) ?? [])
  if (first === undefined) return 'Name the authorization server that you trust: --issuer <url>'
  tell(
    `Your client's secret will go to the server that you confirm. So far, only ${api.host} names this server: ` +
      `${first.href}. Compare that URL with what the API's operator told you.`,
  )
  return `If you trust it, confirm it: --issuer ${first.href}`
}

/** The API alone says so, and every URL below would get the token (RFC 9728 §3.3). */
function unconfirmedBase(api: URL, described: ProtectedResource | undefined): string[] {
  if (described === undefined || withoutSlash(described.resource) === withoutSlash(api)) return []
  const { href, origin, pathname } = described.resource
  return [
    `The API's metadata calls it ${href}, which is more than ${api.href}. ` +
      `If all of that may get the token, confirm it: --base-url ${origin}${pathname}`,
  ]
}

function tellOf(
  { tokenEndpoint, clientAuthentications, lacksClientCredentials }: AuthorizationServer,
  issuer: URL,
): void {
  tell(`${issuer.origin} says that tokens are issued at ${tokenEndpoint.origin}${tokenEndpoint.pathname}.`)
  if (tokenEndpoint.origin !== issuer.origin)
    tell(
      `That is a different server: the secret will go to ${tokenEndpoint.origin}, because ${issuer.origin} says so.`,
    )
  if (lacksClientCredentials) tell('It does not list client credentials among its grants: ask its operator.')
  const [first, ...others] = clientAuthentications
  if (first === undefined)
    tell('It lists no client authentication method that Tokenlane knows: ask its operator.')
  else if (others.length > 0)
    tell(`Its client authentication methods: ${clientAuthentications.join(', ')} (--client-authentication).`)
}

function withoutSlash({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/$/, '')
}
