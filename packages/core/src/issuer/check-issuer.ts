import { mustBeObject, mustBeText, refuse, shape } from '../options/check.ts'
import type { Environment } from '../options/environment.ts'
import { Faults } from '../options/faults.ts'
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
  type ClientCredentials,
  clientAuthenticationMethods,
  type CredentialsSource,
} from '../credentials/credentials.ts'
import type { SecretLifetime } from '../credentials/secret-expiry.ts'
import type { IssuerOptions } from './issuer-options.ts'
import { describeUrl, type IssuerUrl, type UrlOptions } from './issuer-url.ts'
import { type ClientProof, type IssuerProtocol, protocolOf, secretInForm } from './protocol.ts'
import type { EndpointOptions, FormField } from './token-endpoint.ts'

/** An issuer whose options are in order. */
export interface CheckedIssuer extends IssuerUrl, EndpointOptions {
  readonly credentials: CredentialsSource<ClientCredentials>
  readonly secretLifetime: SecretLifetime
  readonly renewBefore: number | undefined
  readonly requestTimeout: number
  readonly maxWait: number
  readonly allowInsecureLoopback: boolean
}

/** The options of an issuer as they are used, but for its URL. */
type IssuerSettings = ReadAs<
  Omit<IssuerOptions, keyof UrlOptions>,
  {
    credentials: CredentialsSource<ClientCredentials>
    clientAuthentication: ClientProof
    assertionAudience: string | undefined
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
  const read = object<IssuerSettings & Partial<UrlOptions>>({
    ...describeUrl(own, environment, own['allowInsecureLoopback'] === true, protocol),
    ...describeSettings(own, protocol, ownFetch),
  } as Description<IssuerSettings & Partial<UrlOptions>>)(given, path)
  // only some of these are read; the others must not come from a polluted Object.prototype
  const { authUrl, tokenEndpoint, issuer }: Partial<UrlOptions> = { __proto__: null, ...read } as object
  return {
    ...((authUrl ?? tokenEndpoint ?? issuer) as IssuerUrl),
    proof: read.clientAuthentication,
    assertionAudience: read.assertionAudience,
    parameters: [...(read.scope === undefined ? [] : [['scope', read.scope] as const]), ...read.parameters],
    credentials: read.credentials,
    secretLifetime: { lifetime: read.secretLifetime, notices: read.notices },
    renewBefore: read.renewBefore,
    requestTimeout: read.requestTimeout,
    maxWait: read.maxWait,
    allowInsecureLoopback: read.allowInsecureLoopback,
  }
}

/** The fields that the token request sets by itself. */
const reserved = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
])

/** Reads the `parameters` of an issuer; an array repeats its field. */
const readParameters: Reader<readonly FormField[]> = (value, path) => {
  mustBeObject(value, path)
  const faults = new Faults()
  const fields = Object.entries(value).map(([name, given]) =>
    faults.collect(readParameter, name, given, `${path}.${name}`),
  )
  faults.raise()
  return fields.flatMap((field) => field ?? [])
}

function readParameter(name: string, given: unknown, path: string): FormField[] {
  if (reserved.has(name))
    refuse(
      path,
      'a field that Tokenlane sets',
      name === 'scope' ? 'the option `scope` for it' : `any field but ${[...reserved].join(', ')}`,
    )
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given]
  return texts.map((text): FormField => [name, mustBeText(text, path, 'text or an array of texts')])
}

/** How the settings are read that depend on no other. */
const settings = {
  assertionAudience: optional((value, path) =>
    mustBeText(value, path, 'the audience of assertions, such as the URL of the token endpoint'),
  ),
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
    clientAuthentication: optional((value, path) => proofBy(value, path, protocol, ownFetch), secretInForm),
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

function proofBy(value: unknown, path: string, { proofs }: IssuerProtocol, ownFetch: boolean): ClientProof {
  const name = clientAuthenticationMethods.find((one) => one === value)
  if (name === undefined) refuse(path, 'not a known method', clientAuthenticationMethods.join(', '))
  const found = proofs.find(({ method }) => method === name)
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
