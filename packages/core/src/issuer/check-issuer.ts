import { isChosen, mustBeObject, pathOf, refuse } from '../options/check.ts'
import { type ReadUrl, readPrivateHosts } from '../options/urls.ts'
import {
  type Description,
  duration,
  fitting,
  flag,
  list,
  object,
  optional,
  type ReadAs,
  type Reader,
  record,
  text,
} from '../options/reader.ts'
import { type CheckedPolicy, checkRatePolicy } from '../limits/rate-policy.ts'
import { type CheckedCredentials, checkCredentials, placeOf } from '../credentials/check-credentials.ts'
import type { ClientAuthenticationMethod } from '../credentials/credentials.ts'
import type { IssuerOptions } from './issuer-options.ts'
import { describeUrl, type UrlOptions, urlOptionOf } from './issuer-url.ts'
import { type ClientProofs, type FormField, protocolOf, type TokenEndpoint } from './protocol.ts'

type CheckedSettings = ReadAs<
  Omit<IssuerOptions, keyof UrlOptions | 'assertionAudience'>,
  {
    credentials: CheckedCredentials
    clientAuthentication: ClientAuthenticationMethod
    scope: string | undefined
    tokenTypes: readonly string[] | undefined
    parameters: readonly FormField[]
    headers: Readonly<Record<string, string>>
    renewBefore: number | undefined
    ratePolicy: CheckedPolicy | undefined
  }
>

export type CheckedIssuer = CheckedSettings &
  Omit<TokenEndpoint, 'issuer' | 'fetch' | 'beforeRequest' | 'manager'>

/** Checks an issuer's options. `others` are names of other options in the same object. */
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
    clientAuthentication: readMethod(all, proofs),
    headers: optional(readHeaders(proofs), {}),
    // in an object that is an API's too, it is the API's
    ratePolicy: others?.includes('ratePolicy') === true ? () => undefined : optional(checkRatePolicy),
    credentials: (value, credentialsPath) => checkCredentials(value, credentialsPath, proofs),
  } satisfies Description<CheckedSettings>
  const read = object(description as Description<CheckedSettings & UrlOptions>, others)(given, path)
  const urlOption = urlOptionOf(own)
  const scope: readonly FormField[] = read.scope === undefined ? [] : [['scope', read.scope]]
  return {
    ...read,
    protocol,
    proofs,
    url: read[urlOption] as URL,
    isDiscovered: urlOption === 'issuer',
    option: pathOf(path, urlOption),
    credentialsOption: pathOf(path, 'credentials'),
    credentialsPlace: () => placeOf(read.credentials.provider, proofs),
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
  const fields = record((given, fieldPath, name) => {
    if (reserved.includes(name))
      refuse(fieldPath, 'a field that Tokenlane sets', `any field except ${reserved.join(', ')}`)
    return [given]
      .flat()
      .map((one): FormField => [name, text('a string or an array of strings')(one, fieldPath)])
  })
  return fields(value, path).flatMap(([, repeated]) => repeated)
}

const ownHeaders = ['content-type', 'content-length', 'host', 'transfer-encoding']
/** Those that `fetch` refuses at each request. */
const unsendable = ['connection', 'keep-alive', 'upgrade', 'expect']

const headerValue = fitting<string>(
  (value) => isChosen(value) && /^[\t\x20-\x7e]*$/.test(value),
  'a non-empty string of one line, in ASCII',
)

/** Reads the `headers` of an issuer. An `Authorization` is refused where a client may have to prove itself by it. */
function readHeaders(proofs: ClientProofs): Reader<Readonly<Record<string, string>>> {
  const isMade = proofs.some(({ method }) => method === 'client_secret_basic')
  const set = [...ownHeaders, ...unsendable, ...(isMade ? ['authorization'] : [])]
  const fields = record((value, path, name): readonly [string, string] => {
    const lower = name.toLowerCase()
    if (set.includes(lower))
      refuse(
        path,
        unsendable.includes(lower) ? 'a header that cannot be sent' : 'a header that Tokenlane sets',
        `any header except ${set.join(', ')}`,
      )
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      refuse(path, 'no name of a header', 'letters, digits and hyphens')
    return [lower, headerValue(value, path)]
  })
  return (value, path) => {
    const given = fields(value, path).map(([, field]) => field)
    const twice = given.find(([name], index) => given.findIndex(([other]) => other === name) < index)
    if (twice !== undefined) refuse(`${path}.${twice[0]}`, 'given twice', 'each header once, in any case')
    return Object.fromEntries(given)
  }
}

const readTokenTypes: Reader<readonly string[]> = (value, path) => {
  const types = list(text('a name, such as Bearer'), "an array of names, such as ['Bearer']")(value, path)
  if (types.length === 0) refuse(path, 'empty', "one name or more, such as ['Bearer']")
  return types.map((type) => type.toLowerCase())
}

const days = duration('above 0', 'days')

/** Reads a time for token requests. No issuer responds in a few milliseconds: such a number was given in seconds. */
const milliseconds: Reader<number> = (value, path) => {
  const span = duration('above 0')(value, path)
  const isInSeconds = span > 1 && span <= 15
  if (isInSeconds)
    refuse(path, String(span), `milliseconds (did you mean ${span * 1_000}, which is ${span} s?)`)
  return span
}

const settings = {
  scope: optional(text('a non-empty string, scopes separated by spaces')),
  tokenTypes: optional(readTokenTypes),
  parameters: optional(readParameters, []),
  renewBefore: optional(duration('0 or more')),
  requestTimeout: optional(milliseconds, 5_000),
  maxWait: optional(milliseconds, 15_000),
  secretLifetime: optional(days, 365),
  notices: optional(list(days, 'an array of days before expiry'), [10, 5]),
  allowInsecureLoopback: optional(flag, false),
  allowInsecureHosts: optional(readPrivateHosts, []),
}

/** Returns how clients can prove themselves: by one method; if that takes a secret, in any other way, too. */
function proofsBy(given: unknown, all: ClientProofs): ClientProofs {
  // a wrong method has an error of its own
  const { method, proof } = all.find((one) => one.method === given) ?? all[0]
  return all.filter(
    (one) => one.method === method || (proof === 'secret' && one.proof !== proof),
  ) as readonly unknown[] as ClientProofs
}

function readMethod(all: ClientProofs, [{ method }]: ClientProofs) {
  const methods = [...new Set(all.map((one) => one.method))].join(', ')
  const allowed = all.length > 1 ? methods : `${methods}, or an oauthIssuer({ ... })`
  return optional(
    (value, path): ClientAuthenticationMethod =>
      value === method ? method : refuse(path, 'not a method of this issuer', allowed),
    method,
  )
}
