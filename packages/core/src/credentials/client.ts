import { isChosen, own, shape } from '../options/check.ts'
import type { ClientAuthenticationMethod, ClientCredentials, CredentialsContext } from './credentials.ts'

/** What is wrong with a field of given credentials, without quoting it. */
export interface CredentialsFault {
  readonly field: string
  readonly given: string
  readonly allowed: string
}

/** Returns what is wrong with the value of a field, `undefined` if it is in order. */
export type Check = (
  value: unknown,
  fields: Readonly<Record<string, unknown>>,
) => Omit<CredentialsFault, 'field'> | undefined

export interface Fields {
  /** The first of them tells these credentials from those of another kind. */
  readonly needed: Readonly<Record<string, Check>>
  readonly optional: Readonly<Record<string, Check>>
  /** The fields that differ in the client that is tried when the first is refused: `needed` where it is left out. */
  readonly renewed?: readonly string[]
  /** Returns the client that the fields make, if they do not make it as they are. */
  readonly clientOf?: (fields: Readonly<Record<string, unknown>>) => object
}

/** One kind of credentials, and how a client that has them authenticates. */
export interface CredentialsKind extends Fields {
  readonly method: ClientAuthenticationMethod
  readonly proof: 'secret' | 'key' | 'certificate' | 'assertion'
  /** The fields in an environment variable or a file, which hold only text. */
  readonly inText?: Fields
}

/** The kinds of credentials that an issuer allows. Where credentials could be of several, they are of the first. */
export type CredentialsKinds = OneOrMore<CredentialsKind>
type OneOrMore<T> = readonly [T, ...T[]]

export type TextKinds = OneOrMore<Fields>

/** A provider as it is called: those of this package also look at the kinds that the issuer allows. */
export interface CalledProvider {
  (context: CredentialsContext & { readonly kinds?: CredentialsKinds }): unknown
  readonly check?: (method: ClientAuthenticationMethod, kinds?: CredentialsKinds) => unknown
  readonly readsFrom?: (method: ClientAuthenticationMethod, kinds?: CredentialsKinds) => string
}

export const text: Check = (value) => {
  if (!isChosen(value)) return { given: shape(value), allowed: 'a non-empty string' }
  return value === value.trim()
    ? undefined
    : { given: 'a string with white space around it', allowed: 'a string without white space around it' }
}

export const date: Check = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime())
    ? undefined
    : { given: shape(value), allowed: 'a valid Date' }

export const secretKind: CredentialsKind = {
  method: 'client_secret_post',
  proof: 'secret',
  needed: { clientSecret: text },
  optional: { secretIssuedAt: date },
}

export function fieldsOf({ needed, optional }: Fields): readonly string[] {
  return ['clientId', ...Object.keys(needed), ...Object.keys(optional)]
}

/** Returns the field that tells credentials from those of another kind. */
export function markOf({ needed }: Fields): string {
  return Object.keys(needed)[0] as string
}

export function kindOf<T extends Fields>(credentials: object, kinds: OneOrMore<T>): T {
  if (kinds.length === 1) return kinds[0]
  return kinds.find((kind) => own(credentials, markOf(kind)) !== undefined) ?? kinds[0]
}

/** Reads a client; `value` may have other fields. Returns all faults if there are any. */
export function readClient(
  value: Readonly<Record<string, unknown>>,
  kinds: TextKinds,
): { readonly client: ClientCredentials } | { readonly faults: readonly CredentialsFault[] } {
  const { needed, optional, clientOf } = kindOf(value, kinds)
  const read: Record<string, unknown> = {}
  const faults: CredentialsFault[] = []
  for (const [field, check] of Object.entries({ clientId: text, ...needed, ...optional })) {
    const given = own(value, field)
    if (given === undefined && field in optional) continue
    const fault = check(given, value)
    if (fault !== undefined) faults.push({ field, ...fault })
    read[field] = given
  }
  if (faults.length > 0) return { faults }
  // what it lacks must not come from a polluted Object.prototype
  const client = { __proto__: null, ...(clientOf?.(read) ?? read) }
  return { client: Object.freeze(client) as unknown as ClientCredentials }
}

export function clientWith(kinds: TextKinds): string {
  return `an object with ${kinds.map((kind) => fieldsOf(kind).join(', ')).join('; or with ')}`
}

/** Returns a key that differs for different clients and proofs: it holds the secret, or the file of an assertion. */
export function keyOf(client: ClientCredentials): string {
  return JSON.stringify({ ...client, secretIssuedAt: undefined })
}

/** Returns the keys by which refusals are remembered. A replaced file counts as another proof, and so does a second function. */
export function proofKeysOf(clients: readonly ClientCredentials[]): ReadonlyMap<ClientCredentials, string> {
  const times = new Map<string, number>()
  const keys = new Map<ClientCredentials, string>()
  for (const client of clients) {
    const { assertion } = client as { readonly assertion?: { readonly version?: () => string } }
    const key = `${keyOf(client)} ${assertion?.version?.() ?? ''}`
    const nth = (times.get(key) ?? 0) + 1
    times.set(key, nth)
    keys.set(client, `${key} ${nth}`)
  }
  return keys
}
