import type { AuthorizationServer } from 'oauth4webapi'
import type { ClientCredentials } from '../credentials/credentials.ts'
import type { IssuerRequest } from './issuer-failure.ts'
import { type ClientProof, type IssuerProtocol, knownServer, type ServerMetadata } from './protocol.ts'

/** Where and how one issuer is asked for a token, as its options say. */
export interface EndpointOptions {
  /** The token endpoint, or the issuer identifier of a server whose metadata names it. */
  readonly url: URL
  /** Returns the server, where metadata names its token endpoint. */
  readonly discover: IssuerProtocol['discover']
  /** The path of the option that names the URL: what to look at where no token endpoint is there. */
  readonly option: string
  /** The most likely mistake then, as a question; empty where none is likely. */
  readonly mistake: string
  readonly proof: ClientProof
  /** The audience of assertions; by default the server's issuer identifier where it is known, else the token endpoint. */
  readonly assertionAudience: string | undefined
  /** `scope` and what else the form holds beside grant and client. */
  readonly parameters: readonly FormField[]
}

/** A field of the form that a token request sends. */
export type FormField = readonly [name: string, value: string]

/** What all issuers of a manager have in common. */
export interface AskOptions {
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
  /** Called with every URL of the issuer just before it is asked. */
  readonly asking?: ((url: URL) => void) | undefined
  /** The manager that asks, so that a subscriber of the tracing channel can tell several apart. */
  readonly manager?: object | undefined
}

/** Where and how one issuer is asked for a token. */
export interface TokenEndpoint extends Omit<EndpointOptions, 'url' | 'discover'>, AskOptions {
  /** Name of the issuer. */
  readonly issuer: string
  readonly server: ServerMetadata
  /** How far the issuer's clock is ahead of this machine's, in whole seconds; 0 until something else is learned. */
  readonly clock: { ahead: number }
}

/** One token request: which client asks which server, and how. */
export interface TokenRequest {
  readonly endpoint: TokenEndpoint
  readonly client: ClientCredentials
  readonly metadata: AuthorizationServer
  readonly request: IssuerRequest
}

/** Returns what a token depends on beside its client: no token is shared across a difference. */
export function identityOf({ server, parameters }: TokenEndpoint): readonly unknown[] {
  return [server.url.href, ...parameters.map((parameter) => JSON.stringify(parameter)).toSorted()]
}

/** Returns the endpoint of an issuer whose options are in order; nothing is asked before the first token request. */
export function tokenEndpoint(
  issuer: string,
  { url, discover, option, mistake, proof, assertionAudience, parameters }: EndpointOptions,
  options: AskOptions,
): TokenEndpoint {
  const server = discover?.(url, option) ?? knownServer(url)
  const clock = { ahead: 0 }
  return { issuer, server, option, mistake, proof, assertionAudience, parameters, clock, ...options }
}
