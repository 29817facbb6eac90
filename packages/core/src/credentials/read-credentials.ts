import { isRecord, shape } from '../options/check.ts'
import {
  type CertificateCredentials,
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type Credentials,
  type PrivateKeyCredentials,
  proofOf,
  signingAlgorithms,
} from './credentials.ts'

/** What is wrong with given credentials, without quoting them; `key` is missing where the whole is wrong. */
export interface CredentialsFault {
  readonly key?: string
  readonly given: string
  readonly allowed: string
}

/** Returns what is wrong with the value of a field, `undefined` if it is in order. */
type Check = (value: unknown) => Omit<CredentialsFault, 'key'> | undefined

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

/** Returns the credentials in `value`, which may hold more, or what is wrong with them. */
export function readCredentials(
  value: unknown,
  method: ClientAuthenticationMethod,
): { readonly credentials: ClientCredentials } | { readonly fault: CredentialsFault } {
  if (!isRecord(value)) {
    const allowed = `an object with ${credentialsFields(method).join(', ')}`
    return { fault: { given: shape(value), allowed } }
  }
  const client: Record<string, unknown> = {}
  const fields: Readonly<Record<string, Check>> = checks[proofOf(method)]
  for (const key of Object.keys(fields)) {
    const fault = fields[key]?.(value[key])
    if (fault !== undefined) return { fault: { key, ...fault } }
    if (value[key] !== undefined) client[key] = value[key]
  }
  return { credentials: client as unknown as ClientCredentials }
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
