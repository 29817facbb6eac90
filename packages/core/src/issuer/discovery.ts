import { type AuthorizationServer, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi'
import type { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { failure } from './issuer-failure.ts'
import { askServer, asJson, type IssuerResponse } from './issuer-request.ts'
import { membersOf } from './issuer-words.ts'
import type { IssuerRequest } from './protocol.ts'

/** A request to a server whose metadata names the URL. */
type Request = Omit<IssuerRequest, 'url'>

/** Keeps the metadata that a server publishes (RFC 8414 §3, OpenID Connect Discovery 1.0 §4). */
export class DiscoveredServer {
  readonly #issuer: URL
  readonly #option: string
  #found: AuthorizationServer | undefined
  #isOutdated = false

  /** @param option names the URL in messages. */
  constructor(issuer: URL, option: string) {
    this.#issuer = issuer
    this.#option = option
  }

  /**
   * Returns the metadata, fetched at the first call.
   *
   * @throws TokenlaneError what kept it from being fetched.
   */
  async get(request: Request): Promise<AuthorizationServer> {
    if (this.#found !== undefined && !this.#isOutdated) return this.#found
    try {
      this.#found = await fetchMetadata({ ...request, url: this.#issuer }, this.#option)
      this.#isOutdated = false
    } catch (error) {
      // the metadata of before is better than none
      if (this.#found === undefined) throw error
    }
    return this.#found
  }

  /**
   * Returns the metadata as it is now, after a request by `outdated` failed; `undefined` if that changes nothing.
   * Where it cannot be fetched, the next call of `get` tries again.
   */
  async renew(request: Request, outdated: AuthorizationServer): Promise<AuthorizationServer | undefined> {
    this.#isOutdated = true
    if (request.signal.aborted) return undefined
    const current = await this.get(request)
    return JSON.stringify(current) === JSON.stringify(outdated) ? undefined : current
  }
}

async function fetchMetadata(request: IssuerRequest, option: string): Promise<AuthorizationServer> {
  const ask = (algorithm: 'oauth2' | 'oidc'): Promise<IssuerResponse> =>
    askServer(request, (options) => discoveryRequest(request.url, { ...options, algorithm }))
  const rfc8414 = await ask('oauth2')
  const response = rfc8414.status === 200 ? rfc8414 : await ask('oidc')
  if (response.status !== 200) throw withoutMetadata(request, response, option)
  const metadata = await processDiscoveryResponse(request.url, asJson(response)).catch(() => {
    throw unusable(request, whatIsWrong(response.body, request.url, option))
  })
  const { token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata
  for (const url of [endpoint, aliases?.token_endpoint])
    if (url !== undefined && !isSecure(url, request.url))
      throw failure(
        request,
        'INSECURE_TRANSPORT',
        'publishes a token endpoint that is not an https: URL: set `tokenEndpoint` to one instead of `issuer`',
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

function withoutMetadata(
  request: IssuerRequest,
  { status, retryAfter }: IssuerResponse,
  option: string,
): TokenlaneError {
  const passing = status >= 500 || status === 429 || status === 408
  const reason = passing
    ? `responded with status ${status} when asked for its metadata`
    : `has no metadata (responded with status ${status}): check \`${option}\`, or set \`tokenEndpoint\``
  return failure(request, 'TOKEN_REQUEST_FAILED', reason, {
    status,
    retryAfter,
    definite: passing ? undefined : true,
  })
}

/** Says which issuer the metadata describes: another server, or another spelling of this one (RFC 8414 §3.3). */
function whatIsWrong(body: string, url: URL, option: string): string {
  const { issuer } = membersOf(body)
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
