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
import { checkCredentials } from '../credentials/check-credentials.ts'
import type {
  ClientAuthenticationMethod,
  ClientCredentials,
  CredentialsSource,
} from '../credentials/credentials.ts'
import type { IssuerOptions } from './issuer-options.ts'
import { describeUrl, mistakeOf, type UrlOptions } from './issuer-url.ts'
import {
  type AskedIssuer,
  type ClientProof,
  type FormField,
  type IssuerProtocol,
  protocolOf,
  secretInForm,
} from './protocol.ts'

/** The options of an issuer as they are used, but for its URL. */
type IssuerSettings = ReadAs<
  Omit<IssuerOptions, keyof UrlOptions | 'assertionAudience'>,
  {
    credentials: CredentialsSource<ClientCredentials>
    clientAuthentication: ClientAuthenticationMethod
    scope: string | undefined
    parameters: readonly FormField[]
    renewBefore: number | undefined
  }
>

/** An issuer whose options are in order. */
export interface CheckedIssuer extends Omit<AskedIssuer, keyof IssuerSettings>, IssuerSettings {
  readonly protocol: IssuerProtocol
  /** How its clients can prove themselves. */
  readonly proofs: readonly ClientProof[]
  /** Of an issuer of the service, which only these paths show. */
  readonly tokenPath: string | undefined
  readonly mistake: string
}

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
  const proofs = proofsBy(own['clientAuthentication'], protocol, ownFetch)
  const description = {
    ...describeUrl(own, readUrl, protocol.asking !== undefined),
    ...describeSettings(own, protocol, proofs),
  }
  const read = {
    __proto__: null,
    ...object(description as Description<IssuerSettings & UrlOptions>, others)(given, path),
  } as IssuerSettings & Partial<UrlOptions>
  const { authUrl, tokenEndpoint, issuer, tokenPath, scope } = read
  return {
    ...read,
    protocol,
    proofs,
    url: (authUrl ?? tokenEndpoint ?? issuer) as URL,
    isDiscovered: issuer !== undefined,
    option: pathOf(path, authUrl ? 'authUrl' : issuer ? 'issuer' : 'tokenEndpoint'),
    tokenPath,
    mistake: mistakeOf(tokenPath),
    parameters: [...(scope === undefined ? [] : [['scope', scope] as const]), ...read.parameters],
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
  return allOf(
    Object.entries(value).map(
      ([name, given]) =>
        () =>
          readParameter(name, given, `${path}.${name}`),
    ),
  ).flat()
}

function readParameter(name: string, given: unknown, path: string): FormField[] {
  const others = `any field except ${[...reserved].join(', ')}`
  if (reserved.has(name))
    refuse(path, 'a field that Tokenlane sets', name === 'scope' ? 'the option `scope` for it' : others)
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
  secretLifetime: optional(readDays('days, finite, above 0'), 365),
  allowInsecureLoopback: optional(flag, false),
} satisfies Partial<Description<IssuerSettings>>

/**
 * Returns how the clients of an issuer can prove themselves: by one method or, where it is a secret's, in any other way,
 * too.
 */
function proofsBy(given: unknown, { proofs }: IssuerProtocol, ownFetch: boolean): readonly ClientProof[] {
  // a wrong method has an error of its own
  const { method, form } = proofs.find((proof) => proof.method === given) ?? secretInForm
  const isAny = form === secretInForm.form
  return proofs
    .filter((proof) => proof.method === method || (isAny && proof.form !== form))
    .map((proof) => hindered(proof, proof.obstacle?.(ownFetch)))
}

function hindered(proof: ClientProof, obstacle: ClientProof['form']['obstacle']): ClientProof {
  return obstacle === undefined ? proof : { ...proof, form: { ...proof.form, obstacle } }
}

function describeSettings(
  { secretLifetime }: Readonly<Record<string, unknown>>,
  protocol: IssuerProtocol,
  proofs: readonly ClientProof[],
): Description<IssuerSettings> {
  const [{ method, form }] = proofs as [ClientProof]
  const longestNotice = isDays(secretLifetime) ? secretLifetime : 365
  const notice = readDays('days, above 0 and below `secretLifetime`', longestNotice)
  return {
    credentials: (value, path) =>
      checkCredentials(value, path, { method, forms: proofs.map((proof) => proof.form) }),
    clientAuthentication: optional((value, path) => {
      if (value === method) {
        if (form.obstacle !== undefined) refuse(path, form.obstacle.given, form.obstacle.allowed)
        return method
      }
      const methods = [...new Set(protocol.proofs.map((proof) => proof.method))]
      const allowed = methods.join(', ')
      return methods.length > 1
        ? refuse(path, 'not a known method', allowed)
        : refuse(path, 'a method only `oauthIssuer` supports', `${allowed}, or an oauthIssuer({ ... })`)
    }, method),
    ...settings,
    ...protocol.settings,
    notices: optional(list(notice, 'an array of days before expiry'), [10, 5]),
  }
}

function readDays(allowed: string, below = Number.POSITIVE_INFINITY): Reader<number> {
  return (value, path) => (isDays(value) && value < below ? value : refuse(path, shape(value), allowed))
}

function isDays(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}
