import { type AuthorizationServer, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi'
import { isRefusal } from '../credentials/refused-client.ts'
import type { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { failure } from './issuer-failure.ts'
import { askServer, type IssuerResponse } from './issuer-request.ts'
import type { IssuerRequest } from './protocol.ts'

/**
 * Returns what asks by the metadata that a server publishes (RFC 8414 §3, OpenID Connect Discovery 1.0 §4), and once more
 * if the request failed and the metadata has changed. It is fetched at the first call, and again after a failure.
 *
 * @param option names the URL in messages.
 */
export function byMetadata(issuer: URL, option: string) {
  let found: AuthorizationServer | undefined
  let isOutdated = false

  async function current(request: Omit<IssuerRequest, 'url'>): Promise<AuthorizationServer> {
    if (found !== undefined && !isOutdated) return found
    try {
      found = await fetchMetadata({ ...request, url: issuer }, option)
      isOutdated = false
    } catch (error) {
      // the metadata of before is better than none
      if (found === undefined) throw error
    }
    return found
  }

  return async <T>(
    request: Omit<IssuerRequest, 'url'>,
    ask: (metadata: AuthorizationServer) => Promise<T>,
  ): Promise<T> => {
    const metadata = await current(request)
    try {
      return await ask(metadata)
    } catch (error) {
      // the endpoint understood the request, so its URL is current
      if (isRefusal(error)) throw error
      isOutdated = true
      if (request.signal.aborted) throw error
      const renewed = await current(request)
      if (JSON.stringify(renewed) === JSON.stringify(metadata)) throw error
      return ask(renewed)
    }
  }
}

async function fetchMetadata(request: IssuerRequest, option: string): Promise<AuthorizationServer> {
  const ask = (algorithm: 'oauth2' | 'oidc'): Promise<IssuerResponse> =>
    askServer(request, (options) => discoveryRequest(request.url, { ...options, algorithm }))
  const rfc8414 = await ask('oauth2')
  const response = rfc8414.status === 200 ? rfc8414 : await ask('oidc')
  const { status, retryAfter } = response
  if (status >= 500 || status === 429 || status === 408) {
    const reason = `responded with status ${status} when asked for its metadata`
    throw failure(request, 'TOKEN_REQUEST_FAILED', reason, { status, retryAfter })
  }
  if (status !== 200) {
    const reason = `has no metadata (responded with status ${status}): check \`${option}\`, or set \`tokenEndpoint\``
    throw failure(request, 'TOKEN_REQUEST_FAILED', reason, { status, retryAfter, definite: true })
  }
  const metadata = await processDiscoveryResponse(request.url, Response.json(response.members)).catch(() => {
    throw unusable(request, whatIsWrong(response, request.url, option))
  })
  const { token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata
  for (const url of [endpoint, aliases?.token_endpoint])
    if (url !== undefined && !isSecure(url, request.url))
      throw failure(
        request,
        'INSECURE_TRANSPORT',
        'publishes a token endpoint that is not an https: URL: remove `issuer`, and set `tokenEndpoint` to an https: URL',
        { definite: true },
      )
  if (endpoint === undefined)
    throw unusable(
      request,
      'publishes metadata without a token endpoint: set `tokenEndpoint` instead of `issuer`',
    )
  return metadata
}

function unusable(request: IssuerRequest, reason: string): TokenlaneError {
  return failure(request, 'TOKEN_RESPONSE_INVALID', reason, { definite: true })
}

/** Says which issuer the metadata describes: another server, or another spelling of this one (RFC 8414 §3.3). */
function whatIsWrong({ members: { issuer } }: IssuerResponse, url: URL, option: string): string {
  const other = typeof issuer === 'string' ? URL.parse(issuer) : null
  if (other !== null && other.href !== url.href)
    return `publishes another issuer's metadata (${printable(other.origin + other.pathname)}): check \`${option}\``
  return 'publishes metadata that does not describe an authorization server (RFC 8414 §3.2)'
}

/** Whether secrets may travel to this URL: `https:`, or `http:` to the host for which the options allow that. */
function isSecure(endpoint: unknown, issuer: URL): boolean {
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (url === null || url.username !== '' || url.password !== '') return false
  const loopback = issuer.protocol === 'http:' && url.hostname === issuer.hostname
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback)
}
