import { isRecord, shape } from '../options/check.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type Proof,
  proofOf,
} from './credentials.ts'

/** What is wrong with given credentials, without quoting them; `field` is missing where the whole is wrong. */
export interface CredentialsFault {
  readonly field?: string
  readonly given: string
  readonly allowed: string
}

/** Returns what is wrong with the value of a field, `undefined` if it is in order. */
export type Check = (value: unknown) => Omit<CredentialsFault, 'field'> | undefined

/** What the credentials of a client must be. */
export interface ClientForm {
  readonly method: ClientAuthenticationMethod
  /** For fields that hold more than text: keys and certificates. */
  readonly checks?: Readonly<Record<string, Check>> | undefined
}

const text: Check = (value) => {
  if (typeof value !== 'string' || value === '')
    return { given: shape(value), allowed: 'text that is not empty' }
  return value === value.trim()
    ? undefined
    : { given: 'text with white space around it', allowed: 'text without white space around it' }
}

const date: Check = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime())
    ? undefined
    : { given: shape(value), allowed: 'a valid Date' }

/** The fields of a client, by what it proves itself with. */
const fields: Readonly<Record<Proof, readonly string[]>> = {
  secret: ['clientId', 'clientSecret', 'secretIssuedAt'],
  key: ['clientId', 'privateKey', 'keyId', 'algorithm', 'secretIssuedAt'],
  certificate: ['clientId', 'certificate', 'privateKey', 'secretIssuedAt'],
}
export const optionalFields: ReadonlySet<string> = new Set(['keyId', 'algorithm', 'secretIssuedAt'])

/** Returns the fields of the credentials that this method needs. */
export function credentialsFields(method: ClientAuthenticationMethod): readonly string[] {
  return fields[proofOf(method)]
}

/** The clients that were read, which never change: as what, and their keys. */
const known = new WeakMap<object, ClientForm & { readonly key: string }>()

/** Returns the client in `value`, which may hold more, or all that is wrong with it. */
export function readClient(
  value: unknown,
  { method, checks }: ClientForm,
): { readonly client: ClientCredentials } | { readonly faults: readonly CredentialsFault[] } {
  const names = credentialsFields(method)
  if (!isRecord(value))
    return { faults: [{ given: shape(value), allowed: `an object with ${names.join(', ')}` }] }
  const before = known.get(value)
  if (before?.method === method && before.checks === checks)
    return { client: value as unknown as ClientCredentials }
  const read: Record<string, unknown> = {}
  const faults: CredentialsFault[] = []
  for (const field of names) {
    const given = value[field]
    if (given === undefined && optionalFields.has(field)) continue
    const check = checks?.[field] ?? (field === 'secretIssuedAt' ? date : text)
    const fault = check(given)
    if (fault !== undefined) faults.push({ field, ...fault })
    read[field] = given
  }
  if (faults.length > 0) return { faults }
  const client = Object.freeze(read) as unknown as ClientCredentials
  known.set(client, { method, checks, key: textOf(client) })
  return { client }
}

/** Returns the key of a client and its proof. It is text that holds the secret: it must never be shown. */
export function keyOf(client: ClientCredentials): string {
  return known.get(client)?.key ?? textOf(client)
}

function textOf(client: ClientCredentials): string {
  return JSON.stringify({ ...client, secretIssuedAt: undefined }, (_, value: unknown) =>
    isCryptoKey(value) ? numberOf(value) : value,
  )
}

/** Numbers the keys that are objects, which have no text. */
const numbers = new WeakMap<object, number>()
let last = 0

function numberOf(key: object): number {
  const number = numbers.get(key) ?? (last += 1)
  numbers.set(key, number)
  return number
}

/** Whether `value` is a `CryptoKey` of Web Crypto, whose global type this package does not use. */
export function isCryptoKey(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object CryptoKey]'
}
