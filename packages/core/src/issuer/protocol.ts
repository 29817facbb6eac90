import { type AuthorizationServer, type ClientAuth, ClientSecretPost } from 'oauth4webapi'
import { type CredentialsForm, kindOf, secretForm } from '../credentials/client.ts'
import type {
  CertificateCredentials,
  ClientAuthenticationMethod,
  ClientCredentials,
  Credentials,
} from '../credentials/credentials.ts'
import type { Description } from '../options/reader.ts'
import type { IssuerRequest } from './issuer-failure.ts'
import type { IssuedToken } from './token-response.ts'

/** How an issuer is asked. A bundle carries only what its application's issuers need. */
export interface IssuerProtocol {
  /** How clients can prove themselves. */
  readonly proofs: readonly ClientProof[]
  /** Returns how one issuer is asked. Without it, one request goes to the known token endpoint. */
  readonly asking?: (issuer: AskedIssuer) => Asking
  /** How the settings are read that only such issuers have. */
  readonly settings?: Description<Pick<AskedIssuer, 'assertionAudience'>>
}

/** What a protocol knows of one issuer. */
export interface AskedIssuer {
  /** The token endpoint, or the issuer identifier of a server whose metadata names it. */
  readonly url: URL
  readonly isDiscovered: boolean
  /** The path of the option that names the URL. */
  readonly option: string
  readonly assertionAudience?: string | undefined
}

/** Obtains a token by `ask`, which makes one token request that proves its client by `proof`. */
export type Asking = (
  request: Omit<IssuerRequest, 'url'>,
  ask: (server: AskedServer) => Promise<IssuedToken>,
  proof: ClientProof,
) => Promise<IssuedToken>

/** Which server is asked, and what a proof must fit. */
export interface AskedServer {
  readonly url: URL
  readonly metadata: AuthorizationServer
  /** The audience of an assertion (RFC 7523 §3). */
  readonly audience?: string
  readonly clock?: IssuerClock
  /** What the metadata says against the way in which the client proves itself. */
  readonly mismatch?: string | undefined
}

/** What is known of an issuer's clock. */
export interface IssuerClock {
  /** How far it is ahead of this machine's, in whole seconds. */
  ahead: number
  /** The `Date` of the last response, in epoch milliseconds. */
  date: number | undefined
}

/** Where and how one issuer is asked for a token. */
export interface TokenEndpoint extends Pick<AskedIssuer, 'url' | 'option'> {
  /** Name of the issuer. */
  readonly issuer: string
  /** The most likely mistake where no token endpoint is at that URL, as a question; empty where none is likely. */
  readonly mistake: string
  /** How its clients can prove themselves: one or more. */
  readonly proofs: readonly ClientProof[]
  /** `scope` and what else the form holds besides grant and client. */
  readonly parameters: readonly FormField[]
  readonly asking?: Asking | undefined
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
  /** Called with every URL of the issuer just before it is asked. */
  readonly beforeRequest?: ((url: URL) => void) | undefined
  /** The manager that asks, so that a subscriber of the tracing channel can tell several apart. */
  readonly manager?: object | undefined
}

/** A field of the form that a token request sends. */
export type FormField = readonly [name: string, value: string]

/** Returns what a token depends on besides its client: no token is shared across a difference. */
export function identityOf({ url, parameters }: TokenEndpoint): readonly unknown[] {
  return [url.href, ...parameters.map((parameter) => JSON.stringify(parameter)).toSorted()]
}

/** Returns the path of an issuer's credentials; they stand next to the option that names its URL. */
export function credentialsOption({ option }: Pick<AskedIssuer, 'option'>): string {
  return `${option.slice(0, option.lastIndexOf('.') + 1)}credentials`
}

/** How a client proves itself in a token request. */
export interface ClientProof {
  readonly method: ClientAuthenticationMethod
  /** What the credentials hold that it needs. */
  readonly form: CredentialsForm
  /**
   * Returns what proves the client in one token request.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE` for a key that cannot sign, and without an assertion.
   */
  prove(
    client: ClientCredentials,
    server: AskedServer,
    request: Pick<IssuerRequest, 'issuer' | 'signal'>,
  ): ClientAuth | Promise<ClientAuth>
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
  readonly obstacle?: (ownFetch: boolean) => CredentialsForm['obstacle']
}

/** The secret in the form of the request (RFC 6749 §2.3.1). */
export const secretInForm: ClientProof = {
  method: 'client_secret_post',
  form: secretForm,
  prove: (client) => ClientSecretPost((client as Credentials).clientSecret),
}

/** A known token endpoint, and a secret in the form. */
const plain: IssuerProtocol = { proofs: [secretInForm] }

/** Returns how a client proves itself: by what it holds. */
export function proofOf(client: ClientCredentials, proofs: readonly ClientProof[]): ClientProof {
  const form = kindOf(
    client,
    proofs.map((proof) => proof.form),
  )
  return proofs.find((proof) => proof.form === form) as ClientProof
}

/** Returns the server of a token endpoint of which nothing else is known. */
export function knownServer(url: URL): AskedServer {
  return { url, metadata: { issuer: url.origin, token_endpoint: url.href } }
}

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
  const { clientSecret, privateKey } = client as Partial<Credentials & CertificateCredentials>
  return [clientSecret, privateKey].filter((text): text is string => typeof text === 'string')
}
