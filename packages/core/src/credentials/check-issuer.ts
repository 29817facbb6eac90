import { canSendCertificate } from '../tls/client-certificate.ts'
import { checkAll } from '../options/check-all.ts'
import {
  mustBeDuration,
  mustBeFlag,
  mustBeObject,
  mustBeText,
  ownOptions,
  refuse,
  shape,
} from '../options/check.ts'
import type { Environment } from '../options/environment.ts'
import { checkCredentials } from './check-credentials.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  clientAuthenticationMethods,
  type CredentialsSource,
} from './credentials.ts'
import { generalPath, weblinkPath } from './issuer.ts'
import type { SecretLifetime } from './secret-expiry.ts'

/** An issuer whose options are in order. */
export interface CheckedIssuer extends CheckedPlace {
  /** `scope` and `parameters`, as fields of a form. */
  readonly parameters: readonly (readonly [string, string])[]
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

interface CheckedPlace {
  /** The token endpoint, or the issuer identifier of a server whose metadata names it. */
  readonly place: URL
  readonly isDiscovered: boolean
  /** What to look at where no token endpoint is at that URL. */
  readonly check: string
  /** `undefined` but for an issuer of the service: only these are known by their paths. */
  readonly tokenPath: string | undefined
}

const settings = [
  'credentials',
  'clientAuthentication',
  'scope',
  'parameters',
  'renewBefore',
  'requestTimeout',
  'maxWait',
  'secretLifetime',
  'notices',
  'allowInsecureLoopback',
]

/**
 * Returns an issuer's options in order.
 *
 * @param ownFetch whether the manager has a `fetch` of the application's.
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT` with everything that is wrong.
 */
export function checkIssuer(
  given: unknown,
  path: string,
  environment: Environment,
  ownFetch: boolean,
): CheckedIssuer {
  const value = ownOptions(given, path)
  const { renewBefore, requestTimeout = 5_000, maxWait = 15_000, allowInsecureLoopback = false } = value
  const insecure = allowInsecureLoopback === true
  const method = methodOf(value)
  const checked = checkAll({
    names: () => mustBeObject(value, path, [...placeNames(value), ...settings]),
    place: () => checkPlace(value, path, environment, insecure),
    method: () => checkMethod(value['clientAuthentication'], path, ownFetch),
    parameters: () => [...checkScope(value['scope'], path), ...checkParameters(value['parameters'], path)],
    source: () => checkCredentials(value['credentials'], `${path}.credentials`, method),
    lifetime: () => checkLifetime(value, path),
    renewBefore: () =>
      renewBefore === undefined ? undefined : mustBeDuration(renewBefore, `${path}.renewBefore`),
    requestTimeout: () => mustBeDuration(requestTimeout, `${path}.requestTimeout`, { positive: true }),
    maxWait: () => mustBeDuration(maxWait, `${path}.maxWait`, { positive: true }),
    allowInsecureLoopback: () => mustBeFlag(allowInsecureLoopback, `${path}.allowInsecureLoopback`),
  })
  const { place, source, lifetime } = checked
  return {
    ...place,
    parameters: checked.parameters,
    credentials: { source, method, lifetime },
    renewBefore: checked.renewBefore,
    requestTimeout: checked.requestTimeout,
    maxWait: checked.maxWait,
    allowInsecureLoopback: insecure,
  }
}

/** An unknown method is refused elsewhere; until then its credentials are read as those of the default one. */
function methodOf({ clientAuthentication }: Record<string, unknown>): ClientAuthenticationMethod {
  return clientAuthenticationMethods.find((method) => method === clientAuthentication) ?? 'client_secret_post'
}

function checkMethod(value: unknown, path: string, ownFetch: boolean): void {
  const option = `${path}.clientAuthentication`
  if (value === undefined) return
  if (!clientAuthenticationMethods.some((method) => method === value))
    refuse(option, 'not a known method', clientAuthenticationMethods.join(', '))
  if (value !== 'tls_client_auth') return
  if (ownFetch)
    refuse(option, 'tls_client_auth, whose certificate `fetch` cannot show', 'it without the option `fetch`')
  if (!canSendCertificate())
    refuse(option, 'tls_client_auth, which needs `node:https`', 'another method in this runtime')
}

function placeNames(value: Record<string, unknown>): readonly string[] {
  return 'tokenPath' in value ? ['authUrl', 'tokenPath'] : ['tokenEndpoint', 'issuer']
}

function checkPlace(
  value: Record<string, unknown>,
  path: string,
  environment: Environment,
  insecure: boolean,
): CheckedPlace {
  if ('tokenPath' in value) return endpointBelow(value, path, environment, insecure)
  const { tokenEndpoint, issuer } = value
  if (tokenEndpoint !== undefined && issuer !== undefined)
    refuse(`${path}.issuer`, 'given beside `tokenEndpoint`', 'one of the two')
  const isDiscovered = issuer !== undefined
  const option = `${path}.${isDiscovered ? 'issuer' : 'tokenEndpoint'}`
  return {
    place: environment.url(isDiscovered ? issuer : tokenEndpoint, option, insecure),
    isDiscovered,
    check: `check \`${option}\``,
    tokenPath: undefined,
  }
}

function checkScope(value: unknown, path: string): [string, string][] {
  return value === undefined ? [] : [['scope', mustBeText(value, `${path}.scope`, 'a scope')]]
}

/** What the token request itself says. */
const reserved = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
])

function checkParameters(value: unknown, path: string): [string, string][] {
  if (value === undefined) return []
  mustBeObject(value, `${path}.parameters`)
  return Object.entries(value).flatMap(([name, given]) => {
    const option = `${path}.parameters.${name}`
    if (reserved.has(name))
      refuse(option, 'a field of its own', name === 'scope' ? 'the option `scope`' : 'other fields')
    const texts: readonly unknown[] = Array.isArray(given) ? given : [given]
    return texts.map((text): [string, string] => [
      name,
      mustBeText(text, option, 'text or an array of texts'),
    ])
  })
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
): CheckedPlace {
  const tokenPath = mustBeText(value['tokenPath'], `${path}.tokenPath`, 'a path, such as /oauth/token')
  if (!tokenPath.startsWith('/'))
    refuse(`${path}.tokenPath`, 'a path without a leading /', 'a path that begins with /')
  const url = environment.url(value['authUrl'], `${path}.authUrl`, insecure)
  const base = url.pathname.replace(/\/+$/, '')
  // also `…/public`, `…/public/security` and so on, which are meant to be there once
  for (let end = tokenPath.indexOf('/', 1); end !== -1; end = tokenPath.indexOf('/', end + 1))
    if (base.endsWith(tokenPath.slice(0, end))) refuseTokenPath(path, tokenPath)
  if (base.endsWith(tokenPath)) refuseTokenPath(path, tokenPath)
  url.pathname = base + tokenPath
  return {
    place: url,
    isDiscovered: false,
    check: `check \`${path}.authUrl\`${mixedUp(tokenPath)}`,
    tokenPath,
  }
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
