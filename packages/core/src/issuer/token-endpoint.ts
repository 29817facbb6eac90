import type { AuthorizationServer } from 'oauth4webapi'
import type { ClientCredentials } from '../credentials/credentials.ts'
import type { CheckedIssuer } from './check-issuer.ts'
import type { ClientAuthentication } from './client-authentication.ts'
import { IssuerClock } from './issuer-clock.ts'
import { mistakeOf } from './issuer-place.ts'
import type { IssuerRequest } from './issuer-request.ts'
import { knownServer, type ServerMetadata } from './server-metadata.ts'

/** Where and how one issuer is asked for a token. */
export interface TokenEndpoint {
  /** Name of the issuer. */
  readonly issuer: string
  readonly server: ServerMetadata
  readonly authentication: ClientAuthentication
  /** The option that names the URL: what to look at where no token endpoint is there. */
  readonly option: string
  /** The most likely mistake then, as a question; empty where none is likely. */
  readonly mistake: string
  /** `scope` and what else the form holds beside grant and client. */
  readonly parameters: readonly (readonly [string, string])[]
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly clock: IssuerClock
  /** Called with every URL of the issuer just before it is asked. */
  readonly asking?: ((url: URL) => void) | undefined
  /** The manager that asks, so that a subscriber of the tracing channel can tell several apart. */
  readonly manager?: object | undefined
}

/** One token request: which client asks which server, and how. */
export interface TokenRequest {
  readonly endpoint: TokenEndpoint
  readonly credentials: ClientCredentials
  readonly metadata: AuthorizationServer
  readonly request: IssuerRequest
}

/** Returns what a token depends on beside its client: no token is shared across a difference. */
export function identityOf({ server, parameters }: TokenEndpoint): readonly unknown[] {
  return [server.place.href, ...parameters.map((parameter) => JSON.stringify(parameter)).toSorted()]
}

/** What all issuers of a manager have in common. */
export type AskOptions = Pick<TokenEndpoint, 'fetch' | 'asking' | 'manager'>

/** Returns the endpoint of an issuer whose options are in order; nothing is asked before the first token request. */
export function tokenEndpoint(
  issuer: string,
  { place, discover, option, tokenPath, parameters, authentication }: CheckedIssuer,
  options: AskOptions,
): TokenEndpoint {
  return {
    issuer,
    server: discover?.(place, option) ?? knownServer(place),
    authentication,
    option,
    mistake: mistakeOf(tokenPath),
    parameters,
    clock: new IssuerClock(),
    ...options,
  }
}
