import { isRecord, shape } from '../options/check.ts'
import { type CredentialsFault, type CredentialsKind, date, isCryptoKey, text } from './client.ts'
import type { PrivateKeyCredentials, SigningAlgorithm } from './credentials.ts'

// the global types of Web Crypto are the DOM's, which this package does without
type CryptoKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

/** Web Crypto's name for each algorithm. */
const parameters: Record<SigningAlgorithm, { name: string; hash?: string; namedCurve?: string }> = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  RS384: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  RS512: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  PS384: { name: 'RSA-PSS', hash: 'SHA-384' },
  PS512: { name: 'RSA-PSS', hash: 'SHA-512' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  ES512: { name: 'ECDSA', namedCurve: 'P-521' },
  Ed25519: { name: 'Ed25519' },
  EdDSA: { name: 'Ed25519' },
}

const signingAlgorithms = Object.keys(parameters)

/** The credentials of a client that signs assertions. */
export const keyKind: CredentialsKind = {
  method: 'private_key_jwt',
  proof: 'key',
  needed: {
    privateKey: (value) =>
      isCryptoKey(value) || isJsonWebKey(value) ? undefined : pemFault(value, 'PRIVATE KEY'),
  },
  optional: {
    keyId: text,
    algorithm: (value) =>
      signingAlgorithms.includes(value as string)
        ? undefined
        : { given: 'not a known algorithm', allowed: signingAlgorithms.join(', ') },
    secretIssuedAt: date,
  },
  renewed: ['privateKey', 'keyId'],
}

/** The credentials of a client that shows a certificate. */
export const certificateKind: CredentialsKind = {
  method: 'tls_client_auth',
  proof: 'certificate',
  needed: {
    certificate: (value) => pemFault(value, 'CERTIFICATE'),
    privateKey: (value) => pemFault(value, '(?:[A-Z]+ )?PRIVATE KEY'),
  },
  optional: { secretIssuedAt: date },
}

/** A key without a named algorithm fits exactly one of these. */
const byKind = ['RS256', 'ES256', 'ES384', 'ES512', 'Ed25519'] as const

/** A key that signs assertions. */
export interface SigningKey {
  readonly key: CryptoKey
  /** The algorithm that the credentials name. */
  readonly algorithm: SigningAlgorithm | undefined
}

/**
 * Returns the key that signs assertions.
 *
 * @throws Error if no algorithm takes the key; its message quotes nothing of it.
 */
export async function signingKey({
  privateKey,
  algorithm = algorithmIn(privateKey),
}: Pick<PrivateKeyCredentials, 'privateKey' | 'algorithm'>): Promise<SigningKey> {
  if (isCryptoKey(privateKey)) {
    const key = privateKey as CryptoKey
    if (key.type !== 'private' || !key.usages.includes('sign'))
      throw new Error(
        'the private key is a CryptoKey that cannot sign: it needs the type `private` and the usage `sign`',
      )
    if (algorithm === undefined || key.algorithm.name === parameters[algorithm].name)
      return { key, algorithm }
  } else
    for (const candidate of algorithm ? [algorithm] : byKind)
      try {
        return { key: await importAs(privateKey, parameters[candidate]), algorithm }
      } catch {
        // Web Crypto's errors mean that this is another kind of key
      }
  throw new Error(`the private key cannot be read${algorithm ? ` as one for ${algorithm}` : ''}`)
}

/** Returns the bytes that only a holder of the key has: what a shared store seals tokens with. */
export async function privateKeyBytes(privateKey: string | object): Promise<Uint8Array<ArrayBuffer>> {
  if (!isCryptoKey(privateKey))
    return new TextEncoder().encode(typeof privateKey === 'string' ? privateKey : JSON.stringify(privateKey))
  const key = privateKey as CryptoKey
  if (!key.extractable) throw new Error('a shared store needs a PEM, JSON Web Key or extractable private key')
  return new Uint8Array(await globalThis.crypto.subtle.exportKey('pkcs8', key))
}

/** Returns the `alg` of a JSON Web Key. */
function algorithmIn(privateKey: string | object): SigningAlgorithm | undefined {
  const { alg } = typeof privateKey === 'string' ? {} : (privateKey as { alg?: unknown })
  return typeof alg === 'string' && Object.hasOwn(parameters, alg) ? (alg as SigningAlgorithm) : undefined
}

function importAs(privateKey: string | object, algorithm: { readonly name: string }): Promise<CryptoKey> {
  const { subtle } = globalThis.crypto
  if (typeof privateKey === 'string')
    return subtle.importKey('pkcs8', derOf(privateKey), algorithm, false, ['sign'])
  // Web Crypto would refuse a key whose key set names another use
  const { alg: _alg, use: _use, key_ops: _operations, ...key } = privateKey as Record<string, unknown>
  return subtle.importKey('jwk', key, algorithm, false, ['sign'])
}

function derOf(pem: string): Uint8Array<ArrayBuffer> {
  const base64 = /-----BEGIN PRIVATE KEY-----([^-]+)-----END/.exec(pem)?.[1] ?? ''
  return Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0))
}

function pemFault(value: unknown, label: string): CredentialsFault | undefined {
  const name = label === 'CERTIFICATE' ? label : 'PRIVATE KEY'
  const allowed = `PEM text that begins with -----BEGIN ${name}-----`
  if (typeof value !== 'string' || value === '') return { given: shape(value), allowed }
  if (new RegExp(`-----BEGIN ${label}-----[^]+-----END ${label}-----`).test(value)) return undefined
  const convert = name === 'CERTIFICATE' ? '' : ' (convert others with `openssl pkcs8 -topk8 -nocrypt`)'
  return { given: 'text in another format', allowed: allowed + convert }
}

function isJsonWebKey(value: unknown): boolean {
  return isRecord(value) && 'kty' in value && 'd' in value
}
