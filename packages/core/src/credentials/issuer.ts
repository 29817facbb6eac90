import {
  mustBeDuration,
  mustBeFlag,
  mustBeObject,
  mustBeText,
  ownOptions,
  refuse,
  shape,
} from '../options/check.ts'
import { checkCredentials } from './check-credentials.ts'
import type { ClientAuthenticationMethod, ClientCredentials, CredentialsSource } from './credentials.ts'
import type { SecretLifetime } from './secret-expiry.ts'
import { type Environment, type PerEnvironment } from '../options/environment.ts'

/** What every issuer is configured with. */
export interface IssuerSettings {
  /** The registered client; each issuer has its own. */
  readonly credentials: CredentialsSource
  /**
   * How long before expiry a renewal starts in the background, in milliseconds, 0 or more. Calls keep the
   * current token meanwhile. Capped at half of the lifetime, so that short tokens are not renewed on every call.
   *
   * @defaultValue a tenth of the lifetime, jittered between a half and the whole of that
   */
  readonly renewBefore?: number | undefined
  /**
   * How long one token request may take, in milliseconds, above 0, and `maxWait` at most.
   *
   * @defaultValue 5_000
   */
  readonly requestTimeout?: number | undefined
  /**
   * How long a call waits at most for a token, all tries together, in milliseconds, above 0.
   *
   * @defaultValue 15_000
   */
  readonly maxWait?: number | undefined
  /**
   * How long a secret lives, in days, above 0. Counted from the credentials' `secretIssuedAt`.
   *
   * @defaultValue 365
   */
  readonly secretLifetime?: number | undefined
  /**
   * How many days before the end of a secret the event `secret.expiring` comes, each above 0. It comes at the end, too.
   *
   * @defaultValue [10, 5]
   */
  readonly notices?: readonly number[] | undefined
  /**
   * Allows `http:` for this issuer and its APIs on loopback hosts, for tests. Elsewhere `http:` is refused.
   *
   * @defaultValue false
   */
  readonly allowInsecureLoopback?: boolean | undefined
}

/** Where an issuer of the service is: the URL before the token path, one for all environments or one for each. */
export interface AuthUrl {
  readonly authUrl: PerEnvironment
}

/** An issuer (RFC 6749 §1.1, authorization server) and the client registered there. */
export type IssuerOptions = IssuerSettings & {
  /** The `scope` to ask for (RFC 6749 §3.3). */
  readonly scope?: string | undefined
} & (
    | { readonly tokenEndpoint: PerEnvironment }
    | (AuthUrl & {
        /** Appended to `authUrl`. */
        readonly tokenPath: string
      })
  )

const generalPath = '/public/security/v1/token'
const weblinkPath = '/IdentityServer/connect/token'

/**
 * The general issuer: tokens for every API but weblink.
 *
 * Asks at `{authUrl}/public/security/v1/token`.
 */
export function generalIssuer(options: AuthUrl & IssuerSettings): IssuerOptions {
  return { ...options, tokenPath: generalPath }
}

/**
 * The weblink issuer: tokens for the weblink API, with scope `WebLinkAPI`.
 *
 * Asks at `{authUrl}/IdentityServer/connect/token`.
 */
export function weblinkIssuer(options: AuthUrl & IssuerSettings): IssuerOptions {
  return { ...options, tokenPath: weblinkPath, scope: 'WebLinkAPI' }
}

/** An issuer whose options are in order. */
export interface CheckedIssuer {
  readonly tokenEndpoint: URL
  /** What to look at where no token endpoint is at that URL. */
  readonly check: string
  /** `undefined` where the whole endpoint is given: only the service's issuers are known by their paths. */
  readonly tokenPath: string | undefined
  readonly scope: string | undefined
  readonly credentials: {
    readonly source: CredentialsSource<ClientCredentials>
    readonly method: ClientAuthenticationMethod
    readonly lifetime: SecretLifetime
  }
  readonly renewBefore: number | undefined
  readonly requestTimeout: number
  readonly maxWait: number
  readonly allowInsecureLoopback: boolean
}

const settings = [
  'credentials',
  'scope',
  'renewBefore',
  'requestTimeout',
  'maxWait',
  'secretLifetime',
  'notices',
  'allowInsecureLoopback',
]

export function checkIssuer(given: unknown, path: string, environment: Environment): CheckedIssuer {
  const value = ownOptions(given, path)
  const ofService = 'tokenPath' in value
  mustBeObject(value, path, [...(ofService ? ['authUrl', 'tokenPath'] : ['tokenEndpoint']), ...settings])

  const { renewBefore, requestTimeout = 5_000, maxWait = 15_000, allowInsecureLoopback = false } = value
  const insecure = mustBeFlag(allowInsecureLoopback, `${path}.allowInsecureLoopback`)
  const scope =
    value['scope'] === undefined ? undefined : mustBeText(value['scope'], `${path}.scope`, 'a scope')
  return {
    ...(ofService
      ? endpointBelow(value, path, environment, insecure)
      : {
          tokenEndpoint: environment.url(value['tokenEndpoint'], `${path}.tokenEndpoint`, insecure),
          check: `check \`${path}.tokenEndpoint\``,
          tokenPath: undefined,
        }),
    scope,
    credentials: {
      source: checkCredentials(value['credentials'], `${path}.credentials`, 'client_secret_post'),
      method: 'client_secret_post',
      lifetime: checkLifetime(value, path),
    },
    renewBefore: renewBefore === undefined ? undefined : mustBeDuration(renewBefore, `${path}.renewBefore`),
    requestTimeout: mustBeDuration(requestTimeout, `${path}.requestTimeout`, { positive: true }),
    maxWait: mustBeDuration(maxWait, `${path}.maxWait`, { positive: true }),
    allowInsecureLoopback: insecure,
  }
}

function checkLifetime(value: Record<string, unknown>, path: string): SecretLifetime {
  const { secretLifetime: lifetime = 365, notices = [10, 5] } = value
  if (!isDays(lifetime)) refuse(`${path}.secretLifetime`, shape(lifetime), 'days, finite, above 0')
  if (!Array.isArray(notices)) refuse(`${path}.notices`, shape(notices), 'an array of days before the end')
  for (const [index, days] of notices.entries())
    if (!isDays(days) || days >= lifetime)
      refuse(`${path}.notices[${index}]`, shape(days), 'days, above 0 and below `secretLifetime`')
  return { lifetime, notices: notices as readonly number[] }
}

function isDays(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function endpointBelow(
  value: Record<string, unknown>,
  path: string,
  environment: Environment,
  insecure: boolean,
): { tokenEndpoint: URL; check: string; tokenPath: string } {
  const tokenPath = mustBeText(value['tokenPath'], `${path}.tokenPath`, 'a path, such as /oauth/token')
  if (!tokenPath.startsWith('/'))
    refuse(`${path}.tokenPath`, 'a path without a leading /', 'a path that begins with /')
  const url = environment.url(value['authUrl'], `${path}.authUrl`, insecure)
  const base = url.pathname.replace(/\/+$/, '')
  // `…/public`, `…/public/security` and so on: whoever gives a part of the token path means it to be there once
  for (let end = tokenPath.indexOf('/', 1); end !== -1; end = tokenPath.indexOf('/', end + 1))
    if (base.endsWith(tokenPath.slice(0, end))) refuseTokenPath(path, tokenPath)
  if (base.endsWith(tokenPath)) refuseTokenPath(path, tokenPath)
  url.pathname = base + tokenPath
  return { tokenEndpoint: url, check: `check \`${path}.authUrl\`${mixedUp(tokenPath)}`, tokenPath }
}

/** Names the most likely mistake where two issuers have two servers. */
function mixedUp(tokenPath: string): string {
  if (tokenPath === generalPath) return `; is it that of the weblink issuer, whose path is ${weblinkPath}?`
  if (tokenPath === weblinkPath) return `; is it that of the general issuer, whose path is ${generalPath}?`
  return ''
}

function refuseTokenPath(path: string, tokenPath: string): never {
  refuse(
    `${path}.authUrl`,
    `a URL that already carries the token path or a part of it`,
    `the part before ${tokenPath}, which is appended`,
  )
}
