import type { AuthorizationServer } from 'oauth4webapi'
import { isRefusal } from '../credentials/refused-client.ts'
import { isTokenlaneError, type TokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { withoutLastSlash } from '../options/urls.ts'
import { failure } from './issuer-failure.ts'
import { askServer } from './issuer-request.ts'
import { isBusy, pageIn, passingStatuses } from './token-response.ts'
import type { IssuerRequest, IssuerResponse } from './protocol.ts'

/**
 * Returns a function that asks the server named by published metadata (RFC 8414 §3, OpenID Connect Discovery 1.0 §4), and
 * asks once more if the request failed and the metadata has changed. It is fetched at the first call and after a failure.
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
      if (isRefusal(error) || (isTokenlaneError(error) && error.busy === true)) throw error
      isOutdated = true
      if (request.signal.aborted) throw error
      const renewed = await current(request)
      if (JSON.stringify(renewed) === JSON.stringify(metadata)) throw error
      return ask(renewed)
    }
  }
}

async function fetchMetadata(request: IssuerRequest, option: string): Promise<AuthorizationServer> {
  const { origin, pathname, href } = request.url
  const path = withoutLastSlash(pathname)
  const get = (place: string): Promise<IssuerResponse> =>
    askServer(request, (send) =>
      send(origin + place, { method: 'GET', headers: { accept: 'application/json' }, redirect: 'manual' }),
    )
  const rfc8414 = await get(`/.well-known/oauth-authorization-server${path}`)
  const response = rfc8414.status === 200 ? rfc8414 : await get(`${path}/.well-known/openid-configuration`)
  const { status, retryAfter, members, location } = response
  const check = `check \`${option}\``
  // not for a redirect that only adds a slash, nor for a path that is wrong
  const isHere = status >= 300 && URL.parse(location ?? '', href)?.origin === origin
  const page = status === 403 || (status < 400 && !isHere) ? pageIn(response, request.url, check) : undefined
  if (status !== 200 || page !== undefined) {
    const definite = page === undefined && status < 500 && !passingStatuses.has(status)
    const reason = definite
      ? `has no metadata (status ${status}): ${check}, or set \`tokenEndpoint\` instead`
      : (page ?? `responded with status ${status} to the metadata request`)
    const details = {
      status,
      retryAfter: retryAfter(),
      definite: definite || undefined,
      busy: isBusy(response) || undefined,
    }
    throw failure(request, 'TOKEN_REQUEST_FAILED', reason, details)
  }
  const metadata = members as unknown as AuthorizationServer
  const unusable = (what: string, code: TokenlaneErrorCode = 'TOKEN_RESPONSE_INVALID'): TokenlaneError =>
    failure(request, code, `publishes ${what}`, { definite: true })
  const described = typeof members['issuer'] === 'string' ? members['issuer'] : 'none'
  // another server, or another spelling of this one (RFC 8414 §3.3)
  if (URL.parse(described)?.href !== href)
    throw unusable(`another issuer's metadata (${printable(described.replace(/[?#].*/s, ''))}): ${check}`)
  const { token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata
  for (const url of [endpoint, aliases?.token_endpoint ?? endpoint])
    if (!isSecure(url, request.url))
      throw unusable(
        'no https: token endpoint: set `tokenEndpoint` instead',
        url === undefined ? undefined : 'INSECURE_TRANSPORT',
      )
  return metadata
}

function isSecure(endpoint: unknown, issuer: URL): boolean {
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === issuer.protocol && url.hostname === issuer.hostname)
}
