import { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'

/** A client that proves itself with a secret (RFC 6749 §2.3.1). */
export interface Credentials {
  /** Identifier of the registered application. */
  readonly clientId: string
  /** Its secret. Never printed. */
  readonly clientSecret: string
  /** When the secret was issued: gives notice in time before its lifetime is over. */
  readonly secretIssuedAt?: Date | undefined
}

/** A client that proves itself with a signed assertion (RFC 7523 §2.2). */
export interface PrivateKeyCredentials {
  readonly clientId: string
  /** PKCS#8 as PEM text, a JSON Web Key, or a `CryptoKey` that may sign. Never printed. */
  readonly privateKey: string | object
  /** The `kid` by which the issuer finds the public key. */
  readonly keyId?: string | undefined
  /**
   * How to sign (RFC 7518 §3.1, RFC 9864, RFC 8037).
   *
   * @defaultValue what the key is made for: `alg` of a JSON Web Key, else RS256, ES256, ES384, ES512 or Ed25519, which is
   * called EdDSA where the server's metadata has this name alone
   */
  readonly algorithm?: SigningAlgorithm | undefined
  /** When the key was registered: gives notice in time before its lifetime is over. */
  readonly secretIssuedAt?: Date | undefined
}

/** A client that proves itself with a TLS certificate (RFC 8705 §2). */
export interface CertificateCredentials {
  readonly clientId: string
  /** The certificate, and those between it and its authority, as PEM text. */
  readonly certificate: string
  /** The certificate's key as PEM text. Never printed. */
  readonly privateKey: string
  /** When the certificate was issued: gives notice in time before its lifetime is over. */
  readonly secretIssuedAt?: Date | undefined
}

/**
 * Returns an assertion that proves who the client is, from where the workload has its identity: a projected Kubernetes
 * token, a SPIFFE JWT-SVID, a key that never leaves its KMS.
 *
 * Asked anew before every token request, so that none is sent twice that the function does not return twice.
 */
export interface AssertionProvider {
  /**
   * `audience` is the one that the assertion must name (`aud`, RFC 7523 §3). `signal` aborts when an assertion would come
   * too late to be of use.
   */
  (context: { readonly audience: string; readonly signal: AbortSignal }): string | Promise<string>
  /** Returns where it reads the assertion, for tools: a path. */
  readonly readsFrom?: () => string
}

/** A client that proves itself with an assertion from outside (RFC 7521 §4.2, RFC 7523 §2.2). Needs `oauthIssuer`. */
export interface AssertionCredentials {
  readonly clientId: string
  /**
   * Of several functions for one client, the next is tried where the first has nothing to send. A refusal counts for all of
   * them, but for files: these are told apart by their paths.
   */
  readonly assertion: AssertionProvider
  /**
   * The last part of `client_assertion_type` after `urn:ietf:params:oauth:client-assertion-type:`, or the whole of another
   * URN.
   *
   * @defaultValue `jwt-bearer`
   */
  readonly assertionType?: 'jwt-bearer' | 'jwt-spiffe' | (string & {}) | undefined
  readonly secretIssuedAt?: undefined
}

/** What a registered client proves itself with: each proves itself by what it holds. */
export type ClientCredentials =
  | Credentials
  | PrivateKeyCredentials
  | CertificateCredentials
  | AssertionCredentials

/** How a client proves itself to an issuer, as RFC 7591 §2 and RFC 8705 §2.1.1 name it. */
export type ClientAuthenticationMethod =
  | 'client_secret_post'
  | 'client_secret_basic'
  | 'private_key_jwt'
  | 'tls_client_auth'

/** How an assertion is signed. */
export type SigningAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'Ed25519'
  | 'EdDSA'

/** What a credentials provider is asked for. */
export interface CredentialsContext {
  /**
   * `startup` before the first token, `renewal` before any later one, `rejected` when the issuer has just refused what
   * the provider gave: the moment to read the secret anew.
   */
  readonly reason: 'startup' | 'renewal' | 'rejected'
  /** Aborts when credentials would come too late to be of use. */
  readonly signal: AbortSignal
  /**
   * The issuer's `clientAuthentication`: which fields the credentials need. With a secret's method, which is the default,
   * an `oauthIssuer` takes every kind of credentials.
   *
   * @defaultValue `client_secret_post`
   */
  readonly clientAuthentication?: ClientAuthenticationMethod | undefined
}

/**
 * Gives the credentials, or several in the order in which to try them. Asked before every token request, so
 * that a rotated secret is used without a restart. May be called again while an earlier call is pending.
 */
export interface CredentialsProvider<C extends ClientCredentials = Credentials> {
  (context: CredentialsContext): C | readonly C[] | Promise<C | readonly C[]>
  /** Called once by `createTokenManager`: throws if it can be known now that there are no credentials. */
  check?: (method: ClientAuthenticationMethod) => void
  /** Returns where it reads the credentials, for tools: the names of variables, or a path. */
  readsFrom?: (method: ClientAuthenticationMethod) => string
}

/** One client, or several in the order in which to try them (current, next), or a function that gives either. */
export type CredentialsSource<C extends ClientCredentials = Credentials> =
  | C
  | readonly C[]
  | CredentialsProvider<C>

/** Returns the error of a token request for which there are no credentials; `reason` quotes nothing of them. */
export function unavailable(
  issuer: string,
  reason: string,
  details: { readonly definite?: boolean } = {},
): TokenlaneError {
  return new TokenlaneError(
    'CREDENTIALS_UNAVAILABLE',
    `Cannot obtain token: no credentials for issuer "${printable(issuer)}": ${reason}`,
    { issuer, ...details },
  )
}

/** Returns the error of a place that holds no usable credentials; `reason` quotes nothing of them. */
export function unreadable(reason: string): TokenlaneError {
  return new TokenlaneError('CREDENTIALS_UNAVAILABLE', `Cannot read credentials: ${reason}`)
}
