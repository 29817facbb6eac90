import type { RatePolicy } from '../limits/rate-policy.ts'
import type { PerEnvironment } from '../options/urls.ts'
import type {
  ClientAuthenticationMethod,
  ClientCredentials,
  CredentialsSource,
} from '../credentials/credentials.ts'

/** The options of every issuer, however its client proves itself. */
interface CommonSettings {
  /**
   * How long before expiry a renewal starts in the background, in milliseconds, 0 or more. Calls use the current token
   * meanwhile. Capped at half of the lifetime, so that short-lived tokens are not renewed on every call.
   *
   * @defaultValue a random time between a twentieth and a tenth of the lifetime
   */
  readonly renewBefore?: number | undefined
  /**
   * How many token requests the server allows. They queue under it, with those of every manager and tenant of this process
   * that asks the same token endpoint, and of the fleet with a `limiter`. Only `limits`, `spread`, `cost`, `accounting` and
   * `unansweredGrace` have an effect: one manager makes one token request at a time.
   *
   * @defaultValue no limit
   */
  readonly ratePolicy?: RatePolicy | undefined
  /**
   * How long one token request may take, in milliseconds, above 0 and at most `maxWait`.
   *
   * @defaultValue 5_000
   */
  readonly requestTimeout?: number | undefined
  /**
   * The longest time that a call waits for a token, across all tries, in milliseconds, above 0.
   *
   * @defaultValue 15_000
   */
  readonly maxWait?: number | undefined
  /**
   * A secret's lifetime, in days, above 0. Counted from the credentials' `secretIssuedAt`.
   *
   * @defaultValue 365
   */
  readonly secretLifetime?: number | undefined
  /**
   * When the event `secret.expiring` is emitted: how many days before a secret expires, each above 0. It is also emitted
   * at expiry.
   *
   * @defaultValue [10, 5]
   */
  readonly notices?: readonly number[] | undefined
  /**
   * The `token_type` names that a token response may have, in any case, such as `['Bearer']`. The token is sent as Bearer
   * whatever its name.
   *
   * @defaultValue any name and none, except DPoP, mac, PoP and N_A, which are not sent as Bearer
   */
  readonly tokenTypes?: readonly string[] | undefined
  /**
   * Allows `http:` for this issuer and its APIs on loopback hosts, for tests: `localhost`, `127.0.0.1`, `[::1]` and names
   * that end in `.localhost`.
   *
   * @defaultValue false
   */
  readonly allowInsecureLoopback?: boolean | undefined
  /**
   * Allows `http:` for this issuer and its APIs on these hosts of a private network, for tests with containers:
   * `['keycloak']`. Secrets and tokens travel unencrypted there, so each start emits `transport.insecure`. Without ports; a
   * name without a dot or one that ends in `.internal`, `.local`, `.localhost` or `.test`, or a private IPv4 address.
   *
   * @defaultValue []
   */
  readonly allowInsecureHosts?: readonly string[] | undefined
}

/** The options of an issuer whose client authenticates with a secret. */
export interface IssuerSettings extends CommonSettings {
  /** The registered client; each issuer has its own. */
  readonly credentials: CredentialsSource
}

/** The URL of one of the service's issuers. */
export interface AuthUrl {
  /**
   * The `https:` URL before the token path, such as `https://auth.example.com`: one for all environments, or one for
   * each by name, as in `{ testing: 'https://…', production: 'https://…' }`.
   */
  readonly authUrl: PerEnvironment
}

interface ByAuthUrl extends Only<'authUrl' | 'tokenPath'>, AuthUrl {
  /** The path that is appended to `authUrl`. */
  readonly tokenPath: string
}

interface ByIssuer extends Only<'issuer'> {
  /**
   * The issuer identifier, an `https:` URL, exactly as the server's metadata names it; one for all environments or one
   * for each by name. The metadata is fetched before the first token request (RFC 8414 §3, else OpenID Connect
   * Discovery 1.0 §4), and again when a token request fails. Needs `oauthIssuer` or `tokensFor`.
   */
  readonly issuer: PerEnvironment
}

interface ByTokenEndpoint extends Only<'tokenEndpoint'> {
  /** The `https:` URL of the token endpoint itself (RFC 6749 §3.2), one for all environments or one for each by name. */
  readonly tokenEndpoint: PerEnvironment
}

/**
 * Where an authorization server is: one URL for all environments, or one for each, in exactly one of these ways. Where
 * all are missing, the compiler asks for the last one.
 */
type Place = ByAuthUrl | ByIssuer | ByTokenEndpoint

/** Forbids the other ways: two of them together do not compile. */
type Only<Names extends string> = {
  readonly [Name in Exclude<'tokenEndpoint' | 'issuer' | 'authUrl' | 'tokenPath', Names>]?: undefined
}

/** An issuer (RFC 6749 §1.1, authorization server) and the client registered there. */
export type IssuerOptions = CommonSettings &
  Place & {
    /** The registered client, with the fields that `clientAuthentication` needs; each issuer has its own. */
    readonly credentials: CredentialsSource<ClientCredentials>
    /**
     * How the client authenticates: with a secret in the form (RFC 6749 §2.3.1), a secret in the `Authorization`
     * header, a signed assertion (RFC 7523 §2.2), or a TLS certificate (RFC 8705 §2). All but the first need
     * `oauthIssuer`.
     *
     * @defaultValue `client_secret_post`
     */
    readonly clientAuthentication?: ClientAuthenticationMethod | undefined
    /**
     * The audience of a signed assertion (`aud`, RFC 7523 §3), if the server expects another one.
     *
     * @defaultValue the `issuer`, or the `tokenEndpoint` if that is configured instead
     */
    readonly assertionAudience?: string | undefined
    /**
     * The `scope` to request (RFC 6749 §3.3): one or more, separated by spaces.
     *
     * @defaultValue none: the server chooses
     */
    readonly scope?: string | undefined
    /**
     * Additional headers of the token request, such as the key of an API gateway; never printed. Like the parameters, they
     * are part of a token's identity.
     *
     * @defaultValue none
     */
    readonly headers?: Readonly<Record<string, string>> | undefined
    /**
     * Additional form fields for the token request, such as `audience`, or `resource` (RFC 8707 §2); an array repeats
     * its field. Like the scope, they are part of a token's identity: issuers that differ in them share no tokens.
     *
     * @defaultValue none
     */
    readonly parameters?: Readonly<Record<string, string | readonly string[]>> | undefined
  }

export const generalPath = '/public/security/v1/token'
export const weblinkPath = '/IdentityServer/connect/token'

/**
 * Returns the options of the general issuer, whose tokens every API except weblink accepts.
 *
 * Its token endpoint is `{authUrl}/public/security/v1/token`.
 */
export function generalIssuer(options: AuthUrl & IssuerSettings): IssuerOptions {
  return { ...options, tokenPath: generalPath }
}

/**
 * Returns the options of the weblink issuer, whose tokens the weblink API accepts.
 *
 * Its token endpoint is `{authUrl}/IdentityServer/connect/token`; the scope is `WebLinkAPI`.
 */
export function weblinkIssuer(options: AuthUrl & IssuerSettings): IssuerOptions {
  return { scope: 'WebLinkAPI', ...options, tokenPath: weblinkPath }
}
