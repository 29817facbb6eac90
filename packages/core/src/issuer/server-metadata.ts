import type { AuthorizationServer } from 'oauth4webapi'
import type { IssuerRequest } from './issuer-request.ts'

/** What is known of one authorization server, and when it has to be learned anew. */
export interface ServerMetadata {
  /** The URL that the options name: the token endpoint, or the issuer identifier. */
  readonly place: URL
  /** Whether `issuer` of the metadata is the server's issuer identifier (RFC 8414 §2). */
  readonly isDiscovered: boolean
  /**
   * Returns the metadata, fetched at the first call.
   *
   * @throws TokenlaneError what kept it from being fetched.
   */
  get(request: Omit<IssuerRequest, 'url'>): Promise<AuthorizationServer>
  /**
   * Returns the metadata as it is now, after a request by `outdated` failed; `undefined` if that changes nothing.
   * Where it cannot be fetched, the next call of `get` tries again.
   */
  renew(
    request: Omit<IssuerRequest, 'url'>,
    outdated: AuthorizationServer,
  ): Promise<AuthorizationServer | undefined>
}

/** Returns the metadata of a server of which the token endpoint is all that is known. */
export function knownServer(tokenEndpoint: URL): ServerMetadata {
  return new KnownServer(tokenEndpoint)
}

/** A class, since a process may have many tenants, and closures take three times as much memory. */
class KnownServer implements ServerMetadata {
  readonly place: URL
  readonly isDiscovered = false

  constructor(tokenEndpoint: URL) {
    this.place = tokenEndpoint
  }

  async get(): Promise<AuthorizationServer> {
    return { issuer: this.place.origin, token_endpoint: this.place.href }
  }

  async renew(): Promise<undefined> {
    return undefined
  }
}
