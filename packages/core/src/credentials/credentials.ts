import { TokenlaneError, type TokenlaneErrorDetails } from '../errors.ts'
import { printable } from '../foreign-text.ts'

/** A client that authenticates with a secret (RFC 6749 §2.3.1). */
export interface Credentials {
  /** Identifier of the registered application. */
  readonly clientId: string
  /** Its secret. Never printed. */
  readonly clientSecret: string
  /** When the secret was issued. With it, `secret.expiring` is emitted before the secret expires. */
  readonly secretIssuedAt?: Date | undefined
}

/** A client that authenticates with a signed assertion (RFC 7523 §2.2). */
export interface PrivateKeyCredentials {
  readonly clientId: string
  /** PKCS#8 as PEM text, a JSON Web Key, or a `CryptoKey` with the usage `sign`. Never printed. */
  readonly privateKey: string | object
  /**
   * The `kid` by which the issuer finds the public key.
   *
   * @defaultValue a JSON Web Key's `kid`, otherwise none
   */
  readonly keyId?: string | undefined
  /**
   * How to sign (RFC 7518 §3.1, RFC 9864, RFC 8037).
   *
   * @defaultValue a JSON Web Key's `alg`, otherwise the first `SigningAlgorithm` that fits the key and is in the server's
   * metadata, otherwise RS256, ES256, ES384, ES512 or Ed25519
   */
  readonly algorithm?: SigningAlgorithm | undefined
  /** When the key was registered. With it, `secret.expiring` is emitted before the key expires. */
  readonly secretIssuedAt?: Date | undefined
}

/** A client that authenticates with a TLS certificate (RFC 8705 §2). */
export interface CertificateCredentials {
  readonly clientId: string
  /** The certificate and any intermediate certificates, as PEM text. */
  readonly certificate: string
  /** The certificate's key as PEM text. Never printed. */
  readonly privateKey: string
  /** The passphrase of an encrypted `privateKey`. Never printed. */
  readonly passphrase?: string | undefined
  /** When the certificate was issued. With it, `secret.expiring` is emitted before the certificate expires. */
  readonly secretIssuedAt?: Date | undefined
}

/** A client that authenticates with a TLS certificate (RFC 8705 §2) in a PKCS#12 file, `.pfx` or `.p12` (RFC 7292). */
export interface PfxCredentials {
  readonly clientId: string
  /** The file's bytes, such as `readFileSync(path)`, or their Base64 text. Holds the certificate and its key. Never printed. */
  readonly pfx: string | Uint8Array
  /** The passphrase of the file; empty or none where it has none. Never printed. */
  readonly passphrase?: string | undefined
  /** When the certificate was issued. With it, `secret.expiring` is emitted before the certificate expires. */
  readonly secretIssuedAt?: Date | undefined
}

/**
 * Returns an assertion that proves the client's identity, from wherever the workload gets it: a projected Kubernetes
 * token, a SPIFFE JWT-SVID, a JWT signed in a KMS.
 *
 * Called before every token request; an assertion is sent twice only if the function returns it twice.
 */
export interface AssertionProvider {
  /**
   * `audience` is what the assertion must name as its audience (`aud`, RFC 7523 §3). `signal` aborts when an assertion
   * would come too late to be useful.
   */
  (context: { readonly audience: string; readonly signal: AbortSignal }): string | Promise<string>
  /** For tools: returns the path that the assertion is read from. */
  readonly readsFrom?: () => string
}

/** A client that authenticates with an assertion from outside (RFC 7521 §4.2, RFC 7523 §2.2). Needs `oauthIssuer`. */
export interface AssertionCredentials {
  readonly clientId: string
  /**
   * If a list has several entries for one client, the next is tried when the first has nothing to send. A refusal of one
   * assertion applies to all of them, unless they are read from different files.
   */
  readonly assertion: AssertionProvider
  /**
   * The part of `client_assertion_type` after `urn:ietf:params:oauth:client-assertion-type:`, or another URN in full.
   *
   * @defaultValue `jwt-bearer`
   */
  readonly assertionType?: 'jwt-bearer' | 'jwt-spiffe' | (string & {}) | undefined
  readonly secretIssuedAt?: undefined
}

/** The credentials of a registered client. Their fields determine how the client authenticates. */
export type ClientCredentials =
  | Credentials
  | PrivateKeyCredentials
  | CertificateCredentials
  | PfxCredentials
  | AssertionCredentials

/** How a client authenticates to an issuer, named as in RFC 7591 §2 and RFC 8705 §2.1.1. */
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

/** What a credentials function is called with. */
export interface CredentialsContext {
  /**
   * `startup` before the first token, `renewal` before any later one, `rejected` when the issuer has just refused what
   * the function returned: time to read the secret again.
   */
  readonly reason: 'startup' | 'renewal' | 'rejected'
  /** Aborts once credentials would come too late to be useful. */
  readonly signal: AbortSignal
  /**
   * The issuer's `clientAuthentication`, which determines the fields that the credentials need. With a method for
   * secrets (the default), an `oauthIssuer` accepts every kind of credentials.
   *
   * @defaultValue `client_secret_post`
   */
  readonly clientAuthentication?: ClientAuthenticationMethod | undefined
}

/**
 * Returns the credentials, or several in the order to try them. Called before every token request, so that a rotated
 * secret is used without a restart; in a long outage of refused credentials, at most once a second. May be called again
 * while an earlier call is pending.
 */
export interface CredentialsProvider<C extends ClientCredentials = Credentials> {
  (context: CredentialsContext): C | readonly C[] | Promise<C | readonly C[]>
  /** Called once by `createTokenManager`. Throws if it is already known that there are no credentials. */
  check?: (method: ClientAuthenticationMethod) => void
  /** For tools: returns where the credentials are read from: the names of variables, or a path. */
  readsFrom?: (method: ClientAuthenticationMethod) => string
}

/** One client, several in the order to try them (current, next), or a function that returns either. */
export type CredentialsSource<C extends ClientCredentials = Credentials> =
  | C
  | readonly C[]
  | CredentialsProvider<C>

/** Returns the error of a token request for which there are no credentials; `reason` quotes nothing of them. */
export function unavailable(
  issuer: string,
  reason: string,
  details?: Pick<TokenlaneErrorDetails, 'definite'>,
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
