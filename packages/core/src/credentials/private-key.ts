import { has, isRecord, own } from '../options/check.ts'
import { base64url, type Bytes, bytesOf, fromBase64url } from './bytes.ts'
import { builtinModule } from '../runtime/builtin-module.ts'
import { type Check, type CredentialsKind, date, text } from './client.ts'
import type { PrivateKeyCredentials, SigningAlgorithm } from './credentials.ts'
import { pemFault, withLineBreaks } from './pem.ts'

// the global types of Web Crypto are the DOM's, which this package does without
export type CryptoKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

function isCryptoKey(value: unknown): value is CryptoKey {
  return Object.prototype.toString.call(value) === '[object CryptoKey]'
}

interface KeyAlgorithm<Hash = string> {
  readonly name: string
  readonly hash?: Hash
  readonly namedCurve?: string
}

/** How Web Crypto imports a key for each algorithm, and signs by it. */
const parameters: Record<SigningAlgorithm, KeyAlgorithm & { saltLength?: number }> = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  RS384: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  RS512: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 },
  PS384: { name: 'RSA-PSS', hash: 'SHA-384', saltLength: 48 },
  PS512: { name: 'RSA-PSS', hash: 'SHA-512', saltLength: 64 },
  ES256: { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', hash: 'SHA-384', namedCurve: 'P-384' },
  ES512: { name: 'ECDSA', hash: 'SHA-512', namedCurve: 'P-521' },
  Ed25519: { name: 'Ed25519' },
  EdDSA: { name: 'Ed25519' },
}

const algorithms = Object.keys(parameters) as readonly SigningAlgorithm[]

export const keyKind: CredentialsKind = {
  method: 'private_key_jwt',
  proof: 'key',
  needed: {
    privateKey(value, fields) {
      if (isCryptoKey(value))
        return value.type === 'private' && value.usages.includes('sign')
          ? undefined
          : { given: 'a CryptoKey that cannot sign', allowed: 'one with the usage `sign`' }
      const isJwk = isRecord(value) && has(value, 'kty') && has(value, 'd')
      return (
        (isJwk ? undefined : pemFault(value, 'PRIVATE KEY')) ??
        keyFault(value as string | object, own(fields, 'algorithm'))
      )
    },
  },
  optional: {
    keyId: text,
    algorithm: (value) =>
      algorithms.includes(value as SigningAlgorithm)
        ? undefined
        : { given: 'not a known algorithm', allowed: algorithms.join(', ') },
    secretIssuedAt: date,
  },
  renewed: ['privateKey', 'keyId'],
  clientOf: ({ privateKey: key, ...others }) => ({
    ...others,
    privateKey: withLineBreaks(key),
    keyNumber: numberOf(key),
  }),
}

/** The algorithms of each kind of key, as OpenSSL names the kinds. */
const kinds: ReadonlyMap<unknown, RegExp> = new Map([
  ['rsa', /^[RP]S/],
  ['prime256v1', /^ES256$/],
  ['secp384r1', /^ES384$/],
  ['secp521r1', /^ES512$/],
  ['ed25519', /^Ed/],
])

/** Returns why a key cannot sign, if the runtime can tell now: Web Crypto tells at its use. */
function keyFault(key: string | object, algorithm: unknown): ReturnType<Check> {
  const crypto = builtinModule('node:crypto') as typeof import('node:crypto') | undefined
  if (crypto === undefined) return undefined
  let read: import('node:crypto').KeyObject
  try {
    const given = typeof key === 'string' ? pkcs8In(withLineBreaks(key) as string) : key
    const format = typeof key === 'string' ? 'der' : 'jwk'
    // a passphrase must not come from a polluted Object.prototype
    const input: object = { __proto__: null, key: given, format, type: 'pkcs8' }
    read = crypto.createPrivateKey(input as import('node:crypto').PrivateKeyInput)
  } catch {
    return {
      given: 'a key that cannot be read: a part is missing or changed',
      allowed: 'a whole private key',
    }
  }
  const { modulusLength = 2_048, namedCurve } = read.asymmetricKeyDetails ?? {}
  if (modulusLength < 2_048) return { given: 'shorter than 2048 bits', allowed: '2048 bits or more' }
  const ofKind = kinds.get(namedCurve ?? read.asymmetricKeyType)
  if (ofKind === undefined)
    return { given: 'a key of another kind', allowed: 'one for RSA, P-256, P-384, P-521 or Ed25519' }
  const wanted = algorithms.find((one) => one === algorithm) ?? algorithmIn(key)
  return wanted === undefined || ofKind.test(wanted)
    ? undefined
    : { given: 'a key of another kind than its algorithm', allowed: `one for ${wanted}` }
}

/** Numbers keys that are objects: they have no text to tell them apart. */
const numbers = new WeakMap<CryptoKey, number>()
let last = 0

function numberOf(key: unknown): number | undefined {
  if (!isCryptoKey(key)) return undefined
  const number = numbers.get(key) ?? (last += 1)
  numbers.set(key, number)
  return number
}

/** Returns a JWT signed by the algorithm that the credentials name, otherwise by the first that fits, listed ones first. */
export async function signedJwt(
  { privateKey, keyId, algorithm = algorithmIn(privateKey) }: PrivateKeyCredentials,
  claims: object,
  listed: unknown,
): Promise<string> {
  const kid = keyId ?? own(privateKey, 'kid')
  const preferred = Array.isArray(listed) ? algorithms.filter((one) => listed.includes(one)) : []
  for (const alg of algorithm ? [algorithm] : [...preferred, ...algorithms]) {
    const key = await keyFor(privateKey, parameters[alg])
    if (key === undefined) continue
    const { modulusLength } = key.algorithm as { readonly modulusLength?: number }
    if (modulusLength !== undefined && modulusLength < 2_048)
      throw new Error('the private key is shorter than 2048 bits')
    const input = [{ alg, kid }, claims].map((part) => base64url(bytesOf(JSON.stringify(part)))).join('.')
    return `${input}.${base64url(await globalThis.crypto.subtle.sign(parameters[alg], key, bytesOf(input)))}`
  }
  throw new Error(`the private key cannot be read${algorithm ? ` as one for ${algorithm}` : ''}`)
}

/** Returns the bytes that only a holder of the key has: what a shared store seals tokens with. */
export async function privateKeyBytes(privateKey: string | object): Promise<Bytes> {
  if (!isCryptoKey(privateKey))
    return bytesOf(typeof privateKey === 'string' ? privateKey : JSON.stringify(privateKey))
  if (!privateKey.extractable)
    throw new Error('a shared store needs a PEM, JSON Web Key or extractable private key')
  return new Uint8Array(await globalThis.crypto.subtle.exportKey('pkcs8', privateKey))
}

function algorithmIn(privateKey: string | object): SigningAlgorithm | undefined {
  const { alg } = privateKey as { readonly alg?: unknown }
  return algorithms.find((one) => one === alg)
}

/** Returns the key for an algorithm, `undefined` if it is one for another. */
async function keyFor(given: string | object, wanted: KeyAlgorithm): Promise<CryptoKey | undefined> {
  if (isCryptoKey(given)) {
    const { name, hash, namedCurve = wanted.namedCurve } = given.algorithm as KeyAlgorithm<{ name: string }>
    const isWanted = name === wanted.name && namedCurve === wanted.namedCurve
    return isWanted && (hash?.name ?? wanted.hash) === wanted.hash ? given : undefined
  }
  try {
    if (typeof given === 'string') {
      return await globalThis.crypto.subtle.importKey('pkcs8', pkcs8In(given), wanted, false, ['sign'])
    }
    // Web Crypto would refuse a key whose key set names another use
    const { alg: _alg, use: _use, key_ops: _operations, ...key } = given as Record<string, unknown>
    return await globalThis.crypto.subtle.importKey('jwk', key, wanted, false, ['sign'])
  } catch {
    // Web Crypto's errors mean that this is another kind of key
    return undefined
  }
}

function pkcs8In(pem: string): Bytes {
  const [, base64 = ''] = /-----BEGIN PRIVATE KEY-----([^-]+)-----END/.exec(pem) ?? []
  return fromBase64url(base64)
}
