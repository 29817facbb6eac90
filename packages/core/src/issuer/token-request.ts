import { type AuthorizationServer, clientCredentialsGrantRequest, clockSkew } from 'oauth4webapi'
import type { ClientCredentials } from '../credentials/credentials.ts'
import { isTokenlaneError, TokenlaneError } from '../errors.ts'
import { secretsOf } from './client-authentication.ts'
import { askServer, type IssuerResponse } from './issuer-request.ts'
import type { TokenEndpoint, TokenRequest } from './token-endpoint.ts'
import { readTokenResponse, type IssuedToken } from './token-response.ts'

/**
 * Makes one token request by client credentials (RFC 6749 §4.4), and another one where the server's metadata or its
 * clock show why the first failed.
 *
 * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` or `INSECURE_TRANSPORT` if another try would fail, too, else
 * `TOKEN_REQUEST_FAILED`, `TOKEN_REQUEST_TIMEOUT` (when `signal` aborts) or `TOKEN_RESPONSE_INVALID`.
 */
export async function requestToken(
  endpoint: TokenEndpoint,
  credentials: ClientCredentials,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const { issuer, server, fetch, asking } = endpoint
  const request = { issuer, fetch, signal, asking, secrets: secretsOf(credentials) }
  const askBy = (metadata: AuthorizationServer): Promise<IssuedToken> => {
    const url = tokenUrl(endpoint, metadata)
    return askInTime({ endpoint, credentials, metadata, request: { ...request, url } })
  }
  const metadata = await server.get(request)
  try {
    return await askBy(metadata)
  } catch (error) {
    // a refusal comes from the right place
    if (isTokenlaneError(error) && error.code === 'TOKEN_REQUEST_REFUSED') throw error
    const moved = await server.renew(request, metadata)
    if (moved === undefined) throw error
    return askBy(moved)
  }
}

/** Asks once, and once more if the issuer refused an assertion because its times do not fit its clock (RFC 7523 §3). */
async function askInTime(asking: TokenRequest): Promise<IssuedToken> {
  const { authentication, clock } = asking.endpoint
  const response = await send(asking)
  const first = await readTokenResponse(response, asking)
  if (!(first instanceof TokenlaneError)) return first
  const isRefused = first.code === 'TOKEN_REQUEST_REFUSED'
  if (!isRefused || authentication.method !== 'private_key_jwt' || !clock.learn(response.date)) throw first
  const second = await readTokenResponse(await send(asking), asking)
  if (second instanceof TokenlaneError) throw second
  return second
}

async function send({ endpoint, credentials, metadata, request }: TokenRequest): Promise<IssuerResponse> {
  const { issuer, server, authentication, parameters, clock } = endpoint
  const client = {
    client_id: credentials.clientId,
    [clockSkew]: clock.difference,
    use_mtls_endpoint_aliases: authentication.fetchOf !== undefined,
  }
  const audience = server.isDiscovered ? undefined : request.url.href
  const proof = await authentication.prove(credentials, { issuer, audience })
  const form = new URLSearchParams(parameters as [string, string][])
  const fetch = authentication.fetchOf?.(credentials) ?? request.fetch
  return askServer({ ...request, fetch }, (options) =>
    clientCredentialsGrantRequest(metadata, client, proof, form, options),
  )
}

/** Returns the URL that oauth4webapi asks: with a certificate an alias of the endpoint, if there is one. */
function tokenUrl({ authentication }: TokenEndpoint, metadata: AuthorizationServer): URL {
  const alias = authentication.fetchOf && metadata.mtls_endpoint_aliases?.token_endpoint
  return new URL((alias ?? metadata.token_endpoint) as string)
}
