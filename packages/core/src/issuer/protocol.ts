import { type AuthorizationServer, type ClientAuth, ClientSecretPost } from 'oauth4webapi'
import type {
  CertificateCredentials,
  ClientAuthenticationMethod,
  ClientCredentials,
  Credentials,
} from '../credentials/credentials.ts'
import type { IssuerRequest } from './issuer-failure.ts'

/** What an issuer is spoken to with. A bundle carries only what its application's issuers need. */
export interface IssuerProtocol {
  /** How clients can prove themselves. */
  readonly proofs: readonly ClientProof[]
  /** Returns the server that publishes its metadata; `option` names the URL in messages. */
  readonly discover?: (issuer: URL, option: string) => ServerMetadata
}

/** How a client proves itself in a token request. */
export interface ClientProof {
  readonly method: ClientAuthenticationMethod
  /**
   * Returns what proves the client in one token request.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE` for a key that cannot sign.
   */
  prove(client: ClientCredentials, asked: AskedServer): ClientAuth | Promise<ClientAuth>
  /** Whether the proof has times, which must fit the clock of the issuer. */
  readonly isTimed?: boolean
  /**
   * Returns a `fetch` that shows the client's certificate. Where this is there, the alias of the token endpoint for
   * certificates is asked (RFC 8705 §5).
   */
  readonly fetchOf?: (client: ClientCredentials) => typeof globalThis.fetch
  /** Returns what else to check where the issuer refuses the client; empty where that is nothing. */
  readonly hint?: (client: ClientCredentials) => string
  /**
   * Returns why the method cannot be used, and what is allowed instead; `undefined` if it can be.
   *
   * @param ownFetch whether the manager has a `fetch` of the application's.
   */
  readonly obstacle?: (ownFetch: boolean) => readonly [given: string, allowed: string] | undefined
}

/** Which server is asked. */
export interface AskedServer {
  /** Name of the issuer. */
  readonly issuer: string
  readonly metadata: AuthorizationServer
  /** The audience of an assertion (RFC 7523 §3). */
  readonly audience: string
}

/** What is known of one authorization server, and when it has to be fetched again. */
export interface ServerMetadata {
  /** The URL that the options name: the token endpoint, or the issuer identifier. */
  readonly url: URL
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

/** The secret in the form of the request (RFC 6749 §2.3.1). */
export const secretInForm: ClientProof = {
  method: 'client_secret_post',
  prove: (client) => ClientSecretPost((client as Credentials).clientSecret),
}

/** Returns the metadata of a server whose token endpoint is all that is known. */
export function knownServer(tokenEndpoint: URL): ServerMetadata {
  return {
    url: tokenEndpoint,
    isDiscovered: false,
    get: async () => ({ issuer: tokenEndpoint.origin, token_endpoint: tokenEndpoint.href }),
    renew: async () => undefined,
  }
}

/** A known token endpoint, and a secret in the form. */
const plain: IssuerProtocol = { proofs: [secretInForm] }

/** Registered, so that it also holds across two copies of the package. */
const key: unique symbol = Symbol.for('tokenlane.protocol') as never

/** Returns options that bring a protocol with them, also into copies that are made with `{ ...options }`. */
export function speaking<T extends object>(options: T, protocol: IssuerProtocol): T {
  return { ...options, [key]: protocol }
}

/** Returns the protocol that an issuer's options bring. */
export function protocolOf(options: object): IssuerProtocol {
  return (options as { readonly [key]?: IssuerProtocol })[key] ?? plain
}

/** Returns what must not be printed, whatever an error or a response holds. */
export function secretsOf(client: ClientCredentials): readonly string[] {
  const { clientSecret } = client as Partial<Credentials>
  const { privateKey } = client as Partial<CertificateCredentials>
  return [clientSecret, privateKey].filter((text): text is string => typeof text === 'string')
}
