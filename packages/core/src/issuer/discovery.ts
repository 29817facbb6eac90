import { type AuthorizationServer, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi'
import type { TokenlaneError } from '../errors.ts'
import { askServer, asJson, failure, type IssuerRequest, type IssuerResponse } from './issuer-request.ts'
import type { ServerMetadata } from './server-metadata.ts'

/**
 * Returns the metadata that a server publishes (RFC 8414 §3, OpenID Connect Discovery 1.0 §4).
 *
 * @param option names the URL in messages.
 */
export function discoveredServer(issuer: URL, option: string): ServerMetadata {
  return new DiscoveredServer(issuer, option)
}

class DiscoveredServer implements ServerMetadata {
  readonly place: URL
  readonly isDiscovered = true
  readonly #option: string
  #found: AuthorizationServer | undefined
  #isOutdated = false

  constructor(issuer: URL, option: string) {
    this.place = issuer
    this.#option = option
  }

  async get(request: Omit<IssuerRequest, 'url'>): Promise<AuthorizationServer> {
    if (this.#found !== undefined && !this.#isOutdated) return this.#found
    try {
      this.#found = await this.#fetch({ ...request, url: this.place })
      this.#isOutdated = false
    } catch (error) {
      // the metadata of before is better than none
      if (this.#found === undefined) throw error
    }
    return this.#found
  }

  async renew(
    request: Omit<IssuerRequest, 'url'>,
    outdated: AuthorizationServer,
  ): Promise<AuthorizationServer | undefined> {
    this.#isOutdated = true
    if (request.signal.aborted) return undefined
    const current = await this.get(request)
    return JSON.stringify(current) === JSON.stringify(outdated) ? undefined : current
  }

  async #fetch(request: IssuerRequest): Promise<AuthorizationServer> {
    const rfc8414 = await this.#ask(request, 'oauth2')
    const response = rfc8414.status === 200 ? rfc8414 : await this.#ask(request, 'oidc')
    if (response.status !== 200) throw this.#without(request, response)
    let metadata: AuthorizationServer
    try {
      metadata = await processDiscoveryResponse(this.place, asJson(response))
    } catch {
      throw failure(request, 'TOKEN_RESPONSE_INVALID', this.#wrong(response.body), { definite: true })
    }
    const { token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata
    for (const url of [endpoint, aliases?.token_endpoint])
      if (url !== undefined && !this.#isSecure(url)) throw this.#insecure(request)
    if (endpoint === undefined)
      throw failure(
        request,
        'TOKEN_RESPONSE_INVALID',
        'publishes metadata without a token endpoint: name it by `tokenEndpoint` in the place of `issuer`',
        {
          definite: true,
        },
      )
    return metadata
  }

  #ask(request: IssuerRequest, algorithm: 'oauth2' | 'oidc'): Promise<IssuerResponse> {
    return askServer(request, (options) => discoveryRequest(this.place, { ...options, algorithm }))
  }

  #without(request: IssuerRequest, { status, retryAfter }: IssuerResponse): TokenlaneError {
    const passing = status >= 500 || status === 429 || status === 408
    const reason = passing
      ? `responded with status ${status} when asked for its metadata`
      : `has no metadata (responded with status ${status}): check \`${this.#option}\`, or give its \`tokenEndpoint\``
    return failure(request, 'TOKEN_REQUEST_FAILED', reason, {
      status,
      retryAfter,
      ...(!passing && { definite: true }),
    })
  }

  /** Says which issuer the metadata describes: another server, or another spelling of this one (RFC 8414 §3.3). */
  #wrong(body: string): string {
    try {
      const { issuer } = JSON.parse(body) as { issuer?: unknown }
      const other = typeof issuer === 'string' ? URL.parse(issuer) : null
      if (other !== null && other.href !== this.place.href)
        return `has the metadata of another issuer (${other.origin}${other.pathname}): check \`${this.#option}\``
    } catch {
      // not JSON
    }
    return 'publishes metadata that does not describe an authorization server (RFC 8414 §3.2)'
  }

  /** Whether secrets may travel to this URL: `https:`, or `http:` to the host for which the options allow that. */
  #isSecure(endpoint: unknown): boolean {
    const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
    if (url === null || url.username !== '' || url.password !== '') return false
    const loopback = this.place.protocol === 'http:' && url.hostname === this.place.hostname
    return url.protocol === 'https:' || (url.protocol === 'http:' && loopback)
  }

  #insecure(request: IssuerRequest): TokenlaneError {
    return failure(
      request,
      'INSECURE_TRANSPORT',
      'publishes a token endpoint that is not an https: URL: name an https: one by `tokenEndpoint` in the place of `issuer`',
      {
        definite: true,
      },
    )
  }
}
