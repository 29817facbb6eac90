import { isRecord, shape } from '../options/check.ts'
import {
  type CertificateCredentials,
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type Credentials,
  type PrivateKeyCredentials,
  type Proof,
  proofOf,
  signingAlgorithms,
} from './credentials.ts'

/** What is wrong with given credentials, without quoting them; `field` is missing where the whole is wrong. */
export interface CredentialsFault {
  readonly field?: string
  readonly given: string
  readonly allowed: string
}

/** Returns what is wrong with the value of a field, `undefined` if it is in order. */
type Check = (value: unknown) => Omit<CredentialsFault, 'field'> | undefined

/** For each field of some credentials, what may stand there. */
type Checks<C> = { readonly [Field in keyof C]-?: Check }

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

const algorithm: Check = (value) =>
  signingAlgorithms.some((known) => known === value)
    ? undefined
    : { given: 'not a known algorithm', allowed: signingAlgorithms.join(', ') }

const certificate: Check = (value) => pemFault(value, 'CERTIFICATE')
const certificateKey: Check = (value) => pemFault(value, '(?:[A-Z]+ )?PRIVATE KEY')
const signingKey: Check = (value) =>
  isCryptoKey(value) || isJsonWebKey(value) ? undefined : pemFault(value, 'PRIVATE KEY')

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value)

const checks: {
  readonly secret: Checks<Credentials>
  readonly key: Checks<PrivateKeyCredentials>
  readonly certificate: Checks<CertificateCredentials>
} = {
  secret: { clientId: text, clientSecret: text, secretIssuedAt: optional(date) },
  key: {
    clientId: text,
    privateKey: signingKey,
    keyId: optional(text),
    algorithm: optional(algorithm),
    secretIssuedAt: optional(date),
  },
  certificate: {
    clientId: text,
    certificate,
    privateKey: certificateKey,
    secretIssuedAt: optional(date),
  },
}

/** Returns the fields of the credentials that this method needs. */
export function credentialsFields(method: ClientAuthenticationMethod): readonly string[] {
  return Object.keys(checks[proofOf(method)])
}

/** The clients that were read, which never change: what each proves itself with, and its key. */
const known = new WeakMap<object, { readonly proof: Proof; readonly key: string }>()

/** Returns the client in `value`, which may hold more, or all that is wrong with it. */
export function readClient(
  value: unknown,
  method: ClientAuthenticationMethod,
): { readonly client: ClientCredentials } | { readonly faults: readonly CredentialsFault[] } {
  const proof = proofOf(method)
  if (!isRecord(value)) {
    const allowed = `an object with ${credentialsFields(method).join(', ')}`
    return { faults: [{ given: shape(value), allowed }] }
  }
  if (known.get(value)?.proof === proof) return { client: value as unknown as ClientCredentials }
  const read: Record<string, unknown> = {}
  const faults: CredentialsFault[] = []
  for (const [field, check] of Object.entries<Check>(checks[proof])) {
    const fault = check(value[field])
    if (fault !== undefined) faults.push({ field, ...fault })
    if (value[field] !== undefined) read[field] = value[field]
  }
  if (faults.length > 0) return { faults }
  const client = Object.freeze(read) as unknown as ClientCredentials
  known.set(client, { proof, key: textOf(client) })
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

function pemFault(value: unknown, label: string): ReturnType<Check> {
  const name = label === 'CERTIFICATE' ? label : 'PRIVATE KEY'
  const allowed = `PEM text that begins with -----BEGIN ${name}-----`
  if (typeof value !== 'string' || value === '') return { given: shape(value), allowed }
  if (new RegExp(`-----BEGIN ${label}-----[^]+-----END ${label}-----`).test(value)) return undefined
  const convert = name === 'CERTIFICATE' ? '' : ', into which `openssl pkcs8 -topk8 -nocrypt` converts others'
  return { given: 'text of another form', allowed: allowed + convert }
}

/** Whether `value` is a `CryptoKey` of Web Crypto, whose global type this package does not use. */
export function isCryptoKey(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object CryptoKey]'
}

function isJsonWebKey(value: unknown): boolean {
  return isRecord(value) && 'kty' in value && 'd' in value
}
