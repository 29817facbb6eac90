import { base64url, type Bytes, bytesOf, fromBase64url } from '../credentials/bytes.ts'
import type { ClientCredentials } from '../credentials/credentials.ts'
import { type CryptoKey, privateKeyBytes } from '../credentials/private-key.ts'

/** A token as it is kept outside of this process: `expiresAt` on the wall clock, `lifetime` in milliseconds. */
export interface StoredToken {
  readonly token: string
  readonly expiresAt: number
  readonly lifetime: number
  /** The scopes that were asked for and not granted. */
  readonly missingScopes?: readonly string[] | undefined
  /** The `Date` of its issue. */
  readonly date?: string | null | undefined
}

/** What all processes need to know about a refused client. */
export interface StoredRefusal {
  readonly status: number | undefined
  readonly oauthError?: string | undefined
  /** When, on the wall clock of the process that was refused, in milliseconds. */
  readonly refusedAt: number
  /** The previous token. Processes without a token use it until it expires. */
  readonly last: StoredToken | undefined
}

type Stored = StoredToken | StoredRefusal

const algorithm = 'AES-GCM'
/** A multiple of 3: its base64 can stand before another one. */
const ivLength = 12
const version = '1.'

/** Encrypts one issuer's token so that only a holder of the client secret, of the private key or of the store's key in its place, reads it. */
export interface TokenSeal {
  /** What the token is kept under. Shows nothing of the issuer, the client or the secret. */
  readonly name: string
  seal(stored: Stored): Promise<string>
  /** Returns what an entry holds, `undefined` if it was not sealed with this secret. */
  open(entry: string): Promise<Stored | undefined>
}

/**
 * Returns the seal of one client: AES-256-GCM, with a key derived by HKDF-SHA-256 (RFC 5869), bound to its name and issuer.
 *
 * The name is derived from the secret too, so that after a rotation the old entries are not found any more. A client with
 * assertions has nothing that stays the same: its tokens are sealed with the store's own key. Their name is derived
 * without that key, so that all processes find the entry while the key is rotated.
 *
 * @param identity what a token depends on besides its client: the issuer, the scope and other parameters.
 * @param storeKeys of the store: the first seals, all open.
 * @throws Error for a private key that cannot be read from this process, and for a store without the key that it needs.
 */
export async function sealOf(
  identity: readonly unknown[],
  credentials: ClientCredentials,
  storeKeys: readonly string[] = [],
): Promise<TokenSeal> {
  const issuer = [credentials.clientId, ...identity]
  const lasting = await lastingSecret(credentials)
  if (lasting === undefined && storeKeys.length === 0)
    throw new Error('a shared store needs its own `key` for a client with an assertion')
  const derivation = (purpose: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: bytesOf('tokenlane token store'),
    info: bytesOf(JSON.stringify([purpose, ...issuer])),
  })
  const keyFrom = async (secret: Bytes): Promise<CryptoKey> => {
    const material = await materialOf(secret)
    const kind = { name: algorithm, length: 256 }
    return globalThis.crypto.subtle.deriveKey(derivation('key'), material, kind, false, [
      'encrypt',
      'decrypt',
    ])
  }
  const name = base64url(
    await globalThis.crypto.subtle.deriveBits(
      derivation('name'),
      await materialOf(lasting ?? bytesOf('assertion')),
      128,
    ),
  )
  const keys = await Promise.all((lasting ? [lasting] : storeKeys.map(bytesOf)).map(keyFrom))
  const additionalData = bytesOf(JSON.stringify([name, ...issuer]))
  return {
    name,
    async seal(stored) {
      const iv = globalThis.crypto.getRandomValues(new Uint8Array(ivLength))
      const way = { name: algorithm, iv, additionalData }
      const sealed = await globalThis.crypto.subtle.encrypt(
        way,
        keys[0] as CryptoKey,
        bytesOf(JSON.stringify(stored)),
      )
      return version + base64url(iv) + base64url(sealed)
    },
    async open(entry) {
      if (!entry.startsWith(version)) return undefined
      for (const key of keys)
        try {
          const sealed = fromBase64url(entry.slice(version.length))
          const way = { name: algorithm, iv: sealed.subarray(0, ivLength), additionalData }
          const opened = await globalThis.crypto.subtle.decrypt(way, key, sealed.subarray(ivLength))
          // only a holder of the secret could seal it
          return JSON.parse(new TextDecoder().decode(opened)) as Stored
        } catch {
          // sealed with another key, or not by a token store
        }
      return undefined
    },
  }
}

/** Returns the part of a client that must stay the same for its entries to be found. */
function lastingSecret(credentials: ClientCredentials): Bytes | Promise<Bytes> | undefined {
  if ('clientSecret' in credentials) return bytesOf(credentials.clientSecret)
  if ('pfx' in credentials) return bytesOf(`${credentials.pfx as string} ${credentials.passphrase ?? ''}`)
  return 'privateKey' in credentials ? privateKeyBytes(credentials.privateKey) : undefined
}

function materialOf(secret: Bytes): Promise<CryptoKey> {
  return globalThis.crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits', 'deriveKey'])
}
