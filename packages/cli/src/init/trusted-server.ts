// The client's secret goes to the authorization server that the person typed or confirmed, and to none that an API names alone.
import { CannotLook } from '../exit-status.ts'
import {
  type AuthorizationServer,
  issuerFor,
  readAuthorizationServer,
} from '../metadata/authorization-server.ts'
import type { ProtectedResource } from '../metadata/protected-resource.ts'
import { askableUrl, serverFor, typedUrl } from '../metadata/public-response.ts'
import type { Questions } from './questions.ts'
import { tell } from '../print.ts'

/** What the person decides about the server before any question. */
export interface ServerOptions {
  readonly issuer?: string
  readonly tokenEndpoint?: string
}

export type Known = Pick<AuthorizationServer, 'tokenEndpoint'> & Partial<AuthorizationServer>

export async function authorizationServer(
  api: URL,
  described: ProtectedResource | undefined,
  options: ServerOptions,
  questions: Questions | undefined,
): Promise<Known> {
  if (options.tokenEndpoint !== undefined)
    return { tokenEndpoint: typedUrl(options.tokenEndpoint, '--token-endpoint') }
  const issuer = await trustedIssuer(api, described?.authorizationServers ?? [], options, questions)
  const found = await readAuthorizationServer(issuer)
  if (typeof found === 'object') {
    const { tokenEndpoint } = found
    tell(`${issuer.origin} says that tokens are issued at ${tokenEndpoint.origin}${tokenEndpoint.pathname}.`)
    if (tokenEndpoint.origin !== issuer.origin)
      tell(
        `That is a different server: the secret will go to ${tokenEndpoint.origin}, because ${issuer.origin} says so.`,
      )
    if (found.lacksClientCredentials)
      tell('It does not list client credentials among its grants: ask its operator.')
    return found
  }
  tell(`${found}.`)
  if (questions === undefined)
    throw new CannotLook('Pass the URL of its token endpoint: --token-endpoint <url>')
  return { tokenEndpoint: typedUrl(await questions.ask('Its token endpoint (URL)?', '', isUrl), 'It') }
}

async function trustedIssuer(
  api: URL,
  named: readonly string[],
  options: ServerOptions,
  questions: Questions | undefined,
): Promise<URL> {
  if (options.issuer !== undefined) {
    const typed = issuerFor(typedUrl(options.issuer, '--issuer'))
    if (named.length > 0 && !named.some((one) => URL.parse(one)?.href === typed.href))
      tell(`You trust ${typed.href}, which is not one of those.`)
    return typed
  }
  if (questions === undefined) throw new CannotLook(unconfirmedServer(api, named))
  for (const one of usableServers(api, named))
    if (await questions.confirm(`Do you trust ${one.href}? It will be contacted.`)) return one
  const answer = await questions.ask('Which authorization server do you trust (URL)?', '', isUrl)
  return issuerFor(typedUrl(answer, 'It'))
}

/** Returns how a person whom nobody can ask says which server to trust. */
export function unconfirmedServer(api: URL, named: readonly string[] = []): string {
  const [first] = usableServers(api, named)
  return first === undefined
    ? 'Name the authorization server that you trust: --issuer <url>'
    : `If you trust it, confirm it: --issuer ${first.href}`
}

/** Returns the servers that the API names, and tells what to know before one of them is confirmed. */
function usableServers(api: URL, named: readonly string[]): URL[] {
  const usable = named.flatMap((one) => serverFor(api, one) ?? []).slice(0, 5)
  const [first] = usable
  if (first !== undefined)
    tell(
      `Your client's secret will go to the server that you confirm now. So far, only ${api.host} names this server: ` +
        `${first.href}. Compare that URL with what the API's operator told you.`,
    )
  return usable
}

function isUrl(text: string): boolean {
  return askableUrl(text) !== undefined
}
