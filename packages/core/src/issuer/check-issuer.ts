import { allOf, mustBeObject, pathOf, refuse, shape } from '../options/check.ts'
import type { ReadUrl } from '../options/urls.ts'
import {
  type Description,
  duration,
  flag,
  list,
  object,
  optional,
  type ReadAs,
  type Reader,
  text,
} from '../options/reader.ts'
import { type CheckedCredentials, checkCredentials } from '../credentials/check-credentials.ts'
import type { ClientAuthenticationMethod } from '../credentials/credentials.ts'
import type { IssuerOptions } from './issuer-options.ts'
import { describeUrl, type UrlOptions, urlOptionOf } from './issuer-url.ts'
import { type ClientProofs, type FormField, protocolOf, type TokenEndpoint } from './protocol.ts'

/** The options of an issuer as they are used, but for its URL. */
type CheckedSettings = ReadAs<
  Omit<IssuerOptions, keyof UrlOptions | 'assertionAudience'>,
  {
    credentials: CheckedCredentials
    clientAuthentication: ClientAuthenticationMethod
    scope: string | undefined
    parameters: readonly FormField[]
    renewBefore: number | undefined
  }
>

/** An issuer whose options are in order. */
export type CheckedIssuer = CheckedSettings &
  Omit<TokenEndpoint, 'issuer' | 'fetch' | 'beforeRequest' | 'manager'>

/**
 * Returns an issuer's options in order.
 *
 * @param ownFetch whether the manager has a `fetch` of the application's.
 * @param others options that are given in the same object.
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT` with everything that is wrong.
 */
export function checkIssuer(
  given: unknown,
  path: string,
  readUrl: ReadUrl,
  ownFetch: boolean,
  others?: readonly string[],
): CheckedIssuer {
  mustBeObject(given, path)
  // nothing must come from a polluted Object.prototype
  const own: Record<string, unknown> = { __proto__: null, ...given }
  const protocol = protocolOf(given)
  const all = protocol.proofs(ownFetch)
  const proofs = proofsBy(own['clientAuthentication'], all)
  const description = {
    ...describeUrl(own, readUrl, protocol.asking !== undefined),
    ...settings,
    ...protocol.settings,
    notices: optional(noticesWithin(own['secretLifetime']), [10, 5]),
    clientAuthentication: readMethod(all, proofs),
    credentials: (value, credentialsPath) => checkCredentials(value, credentialsPath, proofs),
  } satisfies Description<CheckedSettings>
  const read = object(description as Description<CheckedSettings & UrlOptions>, others)(given, path)
  const urlOption = urlOptionOf(own)
  const scope = read.scope === undefined ? [] : [['scope', read.scope] as const]
  return {
    ...read,
    protocol,
    proofs,
    url: read[urlOption] as URL,
    isDiscovered: urlOption === 'issuer',
    option: pathOf(path, urlOption),
    credentialsOption: pathOf(path, 'credentials'),
    tokenPath: own['tokenPath'] as string | undefined,
    parameters: [...scope, ...read.parameters],
  }
}

/** The fields that the token request sets by itself. */
const reserved = [
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
]

/** Reads the `parameters` of an issuer; an array repeats its field. */
const readParameters: Reader<readonly FormField[]> = (value, path) => {
  mustBeObject(value, path)
  return allOf(
    Object.entries(value).map(
      ([name, given]) =>
        () =>
          readParameter(name, given, `${path}.${name}`),
    ),
  ).flat()
}

function readParameter(name: string, given: unknown, path: string): FormField[] {
  const others = `any field except ${reserved.join(', ')}`
  if (reserved.includes(name))
    refuse(path, 'a field that Tokenlane sets', name === 'scope' ? 'the option `scope` instead' : others)
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given]
  return texts.map((one): FormField => [name, text('text or an array of text')(one, path)])
}

/** How the settings are read that depend on no other. */
const settings = {
  scope: optional(text('a scope')),
  parameters: optional(readParameters, []),
  renewBefore: optional(duration()),
  requestTimeout: optional(duration({ positive: true }), 5_000),
  maxWait: optional(duration({ positive: true }), 15_000),
  secretLifetime: optional(days('days, finite, above 0'), 365),
  allowInsecureLoopback: optional(flag, false),
}

/** Returns how clients can prove themselves: by one method or, where it is a secret's, in any other way, too. */
function proofsBy(given: unknown, all: ClientProofs): ClientProofs {
  // a wrong method has an error of its own
  const { method, proof } = all.find((one) => one.method === given) ?? all[0]
  return all.filter(
    (one) => one.method === method || (proof === 'secret' && one.proof !== proof),
  ) as readonly unknown[] as ClientProofs
}

function readMethod(all: ClientProofs, [{ method, obstacle }]: ClientProofs) {
  return optional((value, path): ClientAuthenticationMethod => {
    if (value === method)
      return obstacle === undefined ? method : refuse(path, obstacle.given, obstacle.allowed)
    const allowed = [...new Set(all.map((one) => one.method))].join(', ')
    return all.length > 1
      ? refuse(path, 'not a known method', allowed)
      : refuse(path, 'a method only `oauthIssuer` supports', `${allowed}, or an oauthIssuer({ ... })`)
  }, method)
}

function noticesWithin(secretLifetime: unknown): Reader<readonly number[]> {
  // a wrong lifetime has an error of its own
  const longest = isDays(secretLifetime) ? secretLifetime : 365
  return list(days('days, above 0 and below `secretLifetime`', longest), 'an array of days before expiry')
}

function days(allowed: string, below = Infinity): Reader<number> {
  return (value, path) => (isDays(value) && value < below ? value : refuse(path, shape(value), allowed))
}

function isDays(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < Infinity
}
