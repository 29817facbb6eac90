import { type AuthorizationServer, type ClientAuth, ClientSecretPost } from 'oauth4webapi'
import { type CredentialsKind, secretKind } from '../credentials/client.ts'
import type { ClientCredentials, Credentials } from '../credentials/credentials.ts'
import type { Reader } from '../options/reader.ts'

/** How an issuer is asked. A bundle carries only what its application's issuers need. */
export interface IssuerProtocol {
  /** Returns all ways in which a client can prove itself; `ownFetch`: token requests go through the application's. */
  proofs(ownFetch: boolean): ClientProofs
  /** Returns how an issuer is asked. Default: by one request to the known token endpoint. */
  readonly asking?: (endpoint: TokenEndpoint) => Asking
  /** How the settings are read that only such issuers have. */
  readonly settings?: { readonly assertionAudience: Reader<string | undefined> }
}

export interface TokenEndpoint {
  readonly issuer: string
  /** The token endpoint, or the issuer identifier of a server whose metadata names it. */
  readonly url: URL
  readonly isDiscovered: boolean
  readonly option: string
  readonly credentialsOption: string
  /** Returns the names of variables, or the path, that the credentials are read from, if that is known. */
  readonly credentialsPlace?: () => string | undefined
  /** Set for an issuer of the service. */
  readonly tokenPath: string | undefined
  readonly protocol: IssuerProtocol
  readonly proofs: ClientProofs
  readonly assertionAudience?: string | undefined
  readonly scope: string | undefined
  /** Allowed token types, in lower case; `undefined`: any except known types that are not sent as Bearer. */
  readonly tokenTypes: readonly string[] | undefined
  /** Header fields of the token request besides its own, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** `scope` and what else the form holds besides grant and client. */
  readonly parameters: readonly FormField[]
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: IssuerFetch | undefined
  /** Called with each URL that metadata names just before it is asked. */
  readonly beforeRequest: ((url: URL) => void) | undefined
  /** The manager that asks, so that a subscriber of the tracing channel can tell several apart. */
  readonly manager: object
}

/** As much of `fetch` as the requests to an issuer use. */
export type IssuerFetch = (url: string, init: RequestInit) => Promise<Response>

export type FormField = readonly [name: string, value: string]

/** One request to an issuer: where it goes, what sends it, and what no message may quote. */
export interface IssuerRequest extends Pick<TokenEndpoint, 'issuer' | 'url' | 'fetch' | 'beforeRequest'> {
  readonly secrets: readonly string[]
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

export interface IssuerResponse {
  readonly status: number
  readonly ok: boolean
  readonly body: string
  /** Members of a JSON body, or of the form that some servers send; empty for anything else. */
  readonly members: Readonly<Record<string, unknown>>
  readonly isForm: boolean
  /** The media type, empty where there is none. */
  readonly type: string
  /** Returns for how long it asks to wait, in milliseconds. */
  readonly retryAfter: () => number | undefined
  /** The `Date` of the response, as it came: the issuer's clock (RFC 9110 §6.6.1). */
  readonly date: string | null
  /** What `WWW-Authenticate` asks for, in lower case: an API wants a bearer token (RFC 6750 §3). */
  readonly challenge: string
  /** The `Location` of a redirect, which is not followed. */
  readonly location: string | null
  /** What the issuer got in form and header: no message may repeat it. */
  readonly sent: readonly FormField[]
}

/** Obtains a token by `ask`, which makes one token request that proves its client by `proof`. */
export type Asking = (
  request: Omit<IssuerRequest, 'url'>,
  ask: (server: AskedServer) => Promise<IssuedToken>,
  proof: ClientProof,
) => Promise<IssuedToken>

export interface AskedServer {
  readonly url: URL
  readonly metadata: AuthorizationServer
  /** The audience of an assertion (RFC 7523 §3). */
  readonly audience: string
  readonly clock: IssuerClock
}

export interface IssuerClock {
  /** How far it is ahead of this machine's, in whole seconds. */
  ahead: number
  /** The `Date` of the last response, as it came. */
  date: string | null
}

/** What the issuer gave: the token and its lifetime in milliseconds. */
export interface IssuedToken {
  readonly token: string
  readonly lifetime: number
  /** What is unusual about an accepted response, to follow "the token response has". */
  readonly oddities: readonly string[]
  /** The scopes that were asked for and not granted (RFC 6749 §3.3). */
  readonly missingScopes: readonly string[]
  readonly date: string | null
}

/** A way in which a client proves itself, and the credentials that it needs. */
export interface ClientProof extends CredentialsKind {
  /** Returns what proves the client in one token request; throws `CREDENTIALS_UNAVAILABLE` where nothing can. */
  prove(
    client: ClientCredentials,
    server: AskedServer,
    request: Pick<IssuerRequest, 'issuer' | 'signal'>,
  ): ClientAuth | Promise<ClientAuth>
  /** Whether the proof has times, which must fit the clock of the issuer. */
  readonly isTimed?: boolean
  /** Returns a `fetch` that shows the client's certificate, for the alias of the token endpoint (RFC 8705 §5). */
  readonly fetchOf?: (client: ClientCredentials) => IssuerFetch
  /** Returns what else to check if the issuer refuses the client; may be empty. */
  readonly hint?: (client: ClientCredentials) => string
}

export type ClientProofs = readonly [ClientProof, ...ClientProof[]]

/** The secret in the form of the request (RFC 6749 §2.3.1). */
export const secretInForm: ClientProof = {
  ...secretKind,
  prove: (client) => ClientSecretPost((client as Credentials).clientSecret),
}

const plain: IssuerProtocol = { proofs: () => [secretInForm] }

/** Registered, so that it also holds across two copies of the package. */
const key: unique symbol = Symbol.for('tokenlane.protocol') as never

/** Attaches a protocol to options; copies by `{ ...options }` keep it. */
export function speaking<T extends object>(options: T, protocol: IssuerProtocol): T {
  return { ...options, [key]: protocol }
}

export function protocolOf(options: object): IssuerProtocol {
  return (options as { readonly [key]?: IssuerProtocol })[key] ?? plain
}

export function knownServer(url: URL): AskedServer {
  const metadata = { issuer: url.origin, token_endpoint: url.href }
  return { url, metadata, audience: url.href, clock: { ahead: 0, date: null } }
}

/** Returns what a token depends on besides its client: issuers that differ in it share no token. */
export function identityOf({ url, parameters, headers }: TokenEndpoint): readonly unknown[] {
  const fields = [...parameters, ...Object.entries(headers)]
  return [url.href, ...fields.map((field) => JSON.stringify(field)).toSorted()]
}
