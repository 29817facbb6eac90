import { mustBeObject, mustBeText, refuse, shape } from '../options/check.ts'
import type { Environment } from '../options/environment.ts'
import {
  type Description,
  duration,
  flag,
  list,
  object,
  optional,
  type ReadAs,
  type Reader,
} from '../options/reader.ts'
import { checkCredentials } from '../credentials/check-credentials.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  clientAuthenticationMethods,
  type CredentialsSource,
} from '../credentials/credentials.ts'
import type { SecretLifetime } from '../credentials/secret-expiry.ts'
import { type ClientAuthentication, secretInForm } from './client-authentication.ts'
import type { IssuerOptions } from './issuer-options.ts'
import { describePlace, type IssuerPlace, type PlaceOptions } from './issuer-place.ts'
import { type IssuerProtocol, protocolOf } from './issuer-protocol.ts'
import { type FormField, readParameters } from './token-parameters.ts'

/** An issuer whose options are in order. */
export interface CheckedIssuer extends IssuerPlace {
  /** `scope` and `parameters`, as fields of a form. */
  readonly parameters: readonly FormField[]
  readonly authentication: ClientAuthentication
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

/** The options of an issuer as they are used, but for its place. */
type IssuerSettings = ReadAs<
  Omit<IssuerOptions, keyof PlaceOptions>,
  {
    credentials: CredentialsSource<ClientCredentials>
    clientAuthentication: ClientAuthentication
    scope: string | undefined
    parameters: readonly FormField[]
    renewBefore: number | undefined
  }
>

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
  mustBeObject(given, path)
  const own: Record<string, unknown> = { __proto__: null, ...given }
  const protocol = protocolOf(given)
  const read = object<IssuerSettings & Partial<PlaceOptions>>({
    ...describePlace(own, environment, own['allowInsecureLoopback'] === true, protocol),
    ...describeSettings(own, protocol, ownFetch),
  } as Description<IssuerSettings & Partial<PlaceOptions>>)(given, path)
  const { scope, secretLifetime, notices } = read
  // only some of these are read; the others must not come from a polluted Object.prototype
  const { authUrl, tokenEndpoint, issuer }: Partial<PlaceOptions> = { __proto__: null, ...read } as object
  return {
    ...((authUrl ?? tokenEndpoint ?? issuer) as IssuerPlace),
    parameters: [...(scope === undefined ? [] : [['scope', scope] as const]), ...read.parameters],
    authentication: read.clientAuthentication,
    credentials: {
      source: read.credentials,
      method: read.clientAuthentication.method,
      lifetime: { lifetime: secretLifetime, notices },
    },
    renewBefore: read.renewBefore,
    requestTimeout: read.requestTimeout,
    maxWait: read.maxWait,
    allowInsecureLoopback: read.allowInsecureLoopback,
  }
}

/** How the settings are read that depend on no other. */
const settings = {
  scope: optional((value, path) => mustBeText(value, path, 'a scope')),
  parameters: optional(readParameters, []),
  renewBefore: optional(duration()),
  requestTimeout: optional(duration({ positive: true }), 5_000),
  maxWait: optional(duration({ positive: true }), 15_000),
  secretLifetime: optional(readDays('days, finite, above 0'), 365),
  allowInsecureLoopback: optional(flag, false),
} satisfies Partial<Description<IssuerSettings>>

function describeSettings(
  { clientAuthentication, secretLifetime }: Readonly<Record<string, unknown>>,
  protocol: IssuerProtocol,
  ownFetch: boolean,
): Description<IssuerSettings> {
  // a wrong method has an error of its own
  const method =
    clientAuthenticationMethods.find((one) => one === clientAuthentication) ?? 'client_secret_post'
  const longestNotice = isDays(secretLifetime) ? secretLifetime : 365
  return {
    credentials: (value, path) => checkCredentials(value, path, method),
    clientAuthentication: optional(
      (value, path) => authenticationOf(value, path, protocol, ownFetch),
      secretInForm,
    ),
    ...settings,
    notices: optional(
      list(
        readDays('days, above 0 and below `secretLifetime`', longestNotice),
        'an array of days before the end',
      ),
      [10, 5],
    ),
  }
}

function authenticationOf(
  value: unknown,
  path: string,
  { methods }: IssuerProtocol,
  ownFetch: boolean,
): ClientAuthentication {
  const name = clientAuthenticationMethods.find((one) => one === value)
  if (name === undefined) refuse(path, 'not a known method', clientAuthenticationMethods.join(', '))
  const found = methods.find(({ method }) => method === name)
  if (found === undefined)
    refuse(
      path,
      `${name}, which only \`oauthIssuer\` takes`,
      'client_secret_post, or an oauthIssuer({ ... })',
    )
  const obstacle = found.obstacle?.(ownFetch)
  return obstacle === undefined ? found : refuse(path, ...obstacle)
}

function readDays(allowed: string, below = Number.POSITIVE_INFINITY): Reader<number> {
  return (value, path) => (isDays(value) && value < below ? value : refuse(path, shape(value), allowed))
}

function isDays(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}
