import { keyOf } from '../credentials/client.ts'
import type { AssertionCredentials, ClientCredentials } from '../credentials/credentials.ts'
import { privateKeyBytes } from '../credentials/private-key.ts'

/** A token as it is kept outside of this process: `expiresAt` on the wall clock, `lifetime` in milliseconds. */
export interface StoredToken {
  readonly token: string
  readonly expiresAt: number
  readonly lifetime: number
}

/** What all processes need to know of a client that the issuer refused. */
export interface StoredRefusal {
  readonly status: number | undefined
  readonly oauthError?: string | undefined
  /** When, on the wall clock of the process that was refused, in milliseconds. */
  readonly refusedAt: number
  /** The token before. Processes without a token use it until it expires. */
  readonly last: StoredToken | undefined
}

export type Stored = StoredToken | StoredRefusal

const algorithm = 'AES-GCM'
const ivLength = 12
const mostSeals = 8
/** Stands before every entry, to tell this format from later ones. */
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
 * The name is derived from the secret too, so that after a rotation the old entries are not found any more.
 *
 * @param identity what a token depends on beside its client: the issuer, the scope and other parameters.
 * A client with assertions has nothing that stays the same: its tokens are sealed with the store's own key. Their name is
 * derived without that key, so that all processes find the entry while the key is rotated.
 *
 * @param storeKeys of the store: the first seals, all open.
 * @throws Error for a private key that cannot be read from this process, and for a store without the key that it needs.
 */
export async function sealOf(
  identity: readonly unknown[],
  credentials: ClientCredentials,
  storeKeys: readonly string[] = [],
): Promise<TokenSeal> {
  const issuer = [credentials.clientId, ...identity]
  if (!('assertion' in credentials)) {
    const secret = await derivedFrom(await secretBytes(credentials), issuer)
    return sealUnder(await secret.name(), [await secret.key()], issuer)
  }
  if (storeKeys.length === 0)
    throw new Error('a shared store needs its own `key` for a client with an assertion')
  const [nameless, ...secrets] = await Promise.all([
    derivedFrom(bytes('assertion'), issuer),
    ...storeKeys.map((text) => derivedFrom(bytes(text), issuer)),
  ])
  return sealUnder(await nameless.name(), await Promise.all(secrets.map((secret) => secret.key())), issuer)
}

/** Returns what is derived from a secret: the name of entries, and the key that seals them. */
async function derivedFrom(
  secret: Uint8Array<ArrayBuffer>,
  issuer: readonly unknown[],
): Promise<{ name(): Promise<string>; key(): Promise<SealingKey> }> {
  const { subtle } = globalThis.crypto
  const material = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits', 'deriveKey'])
  const derivation = (purpose: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: bytes('tokenlane token store'),
    info: bytes(JSON.stringify([purpose, ...issuer])),
  })
  return {
    name: async () => base64url(new Uint8Array(await subtle.deriveBits(derivation('name'), material, 128))),
    key: () =>
      subtle.deriveKey(derivation('key'), material, { name: algorithm, length: 256 }, false, [
        'encrypt',
        'decrypt',
      ]),
  }
}

type SealingKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

/** @param keys the first seals, all open. */
function sealUnder(name: string, keys: readonly SealingKey[], issuer: readonly unknown[]): TokenSeal {
  const { subtle } = globalThis.crypto
  const additionalData = bytes(JSON.stringify([name, ...issuer]))
  return {
    name,
    async seal(stored) {
      const iv = globalThis.crypto.getRandomValues(new Uint8Array(ivLength))
      const sealed = await subtle.encrypt(
        { name: algorithm, iv, additionalData },
        keys[0] as SealingKey,
        bytes(JSON.stringify(stored)),
      )
      const entry = new Uint8Array(ivLength + sealed.byteLength)
      entry.set(iv)
      entry.set(new Uint8Array(sealed), ivLength)
      return version + base64url(entry)
    },
    async open(entry) {
      if (!entry.startsWith(version)) return undefined
      for (const key of keys)
        try {
          const sealed = fromBase64url(entry.slice(version.length))
          const iv = sealed.subarray(0, ivLength)
          const opened = await subtle.decrypt(
            { name: algorithm, iv, additionalData },
            key,
            sealed.subarray(ivLength),
          )
          // only a holder of the secret could seal it
          return JSON.parse(new TextDecoder().decode(opened)) as Stored
        } catch {
          // sealed with another key, or not by a token store
        }
      return undefined
    },
  }
}

/** Returns the seals of one issuer's clients. Deriving the keys takes half a millisecond, so the latest ones are kept. */
export function sealsOf(
  identity: readonly unknown[],
  keysOfStore?: () => Promise<readonly string[]>,
): (client: ClientCredentials) => Promise<TokenSeal> {
  const seals = new Map<string, Promise<TokenSeal>>()
  return async (client) => {
    const storeKeys = 'assertion' in client ? await keysOfStore?.() : undefined
    const key = JSON.stringify([keyOf(client), storeKeys])
    const known = seals.get(key)
    if (known !== undefined) return known
    // a provider may make up a new secret each time
    for (const oldest of seals.keys()) if (seals.size >= mostSeals) seals.delete(oldest)
    const seal = sealOf(identity, client, storeKeys)
    seals.set(key, seal)
    seal.catch(() => seals.delete(key))
    return seal
  }
}

function secretBytes(
  credentials: Exclude<ClientCredentials, AssertionCredentials>,
): Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> {
  return 'clientSecret' in credentials
    ? bytes(credentials.clientSecret)
    : privateKeyBytes(credentials.privateKey)
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/** RFC 4648 §5, without padding. */
function base64url(binary: Uint8Array): string {
  const text = Array.from(binary, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
