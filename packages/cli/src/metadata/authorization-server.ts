import { printable } from '@tokenlane/core/adapter'

import { clientAuthentications } from '../choices.ts'
import { askableUrl, fieldsIn, getPublic, textIn, textsIn } from './public-response.ts'

export type ClientAuthentication = (typeof clientAuthentications)[number]

/** What an authorization server says of itself (RFC 8414 §2). */
export interface AuthorizationServer {
  readonly issuer: string
  readonly tokenEndpoint: URL
  readonly clientAuthentications: readonly ClientAuthentication[]
  /** Whether it names its grants, and client credentials is not among them. */
  readonly lacksClientCredentials: boolean
}

/** Returns the issuer for a URL that may be that of its metadata, which is what many consoles show. */
export function issuerFor(url: URL): URL {
  const path = url.pathname.replace(/\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/, '')
  return new URL(url.origin + path)
}

/**
 * Reads the metadata of an authorization server (RFC 8414 §3, else OpenID Connect Discovery 1.0 §4).
 *
 * @returns why it is not usable, in words.
 * @throws CannotLook if the server does not respond, or the metadata is too large.
 */
export async function readAuthorizationServer(issuer: URL): Promise<AuthorizationServer | string> {
  const path = issuer.pathname.replace(/\/$/, '')
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
  ]
  for (const place of new Set(places)) {
    const { body } = await getPublic(new URL(issuer.origin + place), { body: true })
    const fields = fieldsIn(body)
    if (fields !== undefined) return judged(issuer, fields)
  }
  return `${issuer.href} publishes no metadata`
}

function judged(issuer: URL, fields: Readonly<Record<string, unknown>>): AuthorizationServer | string {
  const named = textIn(fields['issuer'])
  const other = URL.parse(named)
  if (other?.href.replace(/\/$/, '') !== issuer.href.replace(/\/$/, ''))
    return `${issuer.href} publishes another issuer's metadata (${printable(named, 100)}), so it is ignored (RFC 8414 §3.3)`
  const endpoint = askableUrl(textIn(fields['token_endpoint']))
  if (endpoint === undefined || (endpoint.protocol === 'http:' && issuer.protocol !== 'http:'))
    return `${issuer.href} publishes no token endpoint with an https: URL`
  const grants = textsIn(fields['grant_types_supported'])
  // both defaults are those of RFC 8414 §2
  const methods = textsIn(fields['token_endpoint_auth_methods_supported'] ?? ['client_secret_basic'])
  return {
    issuer: named,
    tokenEndpoint: endpoint,
    clientAuthentications: clientAuthentications.filter((method) => methods.includes(method)),
    lacksClientCredentials: grants.length > 0 && !grants.includes('client_credentials'),
  }
}
