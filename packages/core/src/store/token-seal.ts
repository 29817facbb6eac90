import type { Credentials } from '../credentials/credentials.ts'

/** A token as it is kept outside of this process: `expiresAt` on the wall clock, `lifetime` in milliseconds. */
export interface StoredToken {
  readonly token: string
  readonly expiresAt: number
  readonly lifetime: number
}

// the global types of Web Crypto are the DOM's, which this package does without
type Key = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

const algorithm = 'AES-GCM'
const ivLength = 12
/** Goes before every entry, so that another format can be told from this one. */
const version = '1.'

/**
 * Encrypts one issuer's token so that only a holder of the client secret reads it: AES-256-GCM, with a key derived
 * by HKDF-SHA-256 (RFC 5869), bound to its name and issuer.
 *
 * The name is derived from the secret too: after a rotation the old entries are simply not found.
 */
export class TokenSeal {
  /** What the token is kept under. Tells nothing of the issuer, the client or the secret. */
  readonly name: string
  readonly #key: Key
  readonly #context: Uint8Array<ArrayBuffer>

  private constructor(name: string, key: Key, context: Uint8Array<ArrayBuffer>) {
    this.name = name
    this.#key = key
    this.#context = context
  }

  static async of(
    { url, scope }: { readonly url: URL; readonly scope: string | undefined },
    { clientId, clientSecret }: Credentials,
  ): Promise<TokenSeal> {
    const { subtle } = globalThis.crypto
    const secret = await subtle.importKey('raw', bytes(clientSecret), 'HKDF', false, [
      'deriveBits',
      'deriveKey',
    ])
    const issuer = [url.href, clientId, scope ?? null]
    const derivation = (purpose: string) => ({
      name: 'HKDF',
      hash: 'SHA-256',
      salt: bytes('tokenlane token store'),
      info: bytes(JSON.stringify([purpose, ...issuer])),
    })
    const [name, key] = await Promise.all([
      subtle.deriveBits(derivation('name'), secret, 128),
      subtle.deriveKey(derivation('key'), secret, { name: algorithm, length: 256 }, false, [
        'encrypt',
        'decrypt',
      ]),
    ])
    const text = base64url(new Uint8Array(name))
    return new TokenSeal(text, key, bytes(JSON.stringify([text, ...issuer])))
  }

  async seal(stored: StoredToken): Promise<string> {
    const iv = globalThis.crypto.getRandomValues(new Uint8Array(ivLength))
    const sealed = await globalThis.crypto.subtle.encrypt(
      this.#parameters(iv),
      this.#key,
      bytes(JSON.stringify(stored)),
    )
    const entry = new Uint8Array(ivLength + sealed.byteLength)
    entry.set(iv)
    entry.set(new Uint8Array(sealed), ivLength)
    return version + base64url(entry)
  }

  /** The token in an entry, `undefined` if the entry is none that this secret sealed. */
  async open(entry: string): Promise<StoredToken | undefined> {
    if (!entry.startsWith(version)) return undefined
    try {
      const sealed = fromBase64url(entry.slice(version.length))
      const opened = await globalThis.crypto.subtle.decrypt(
        this.#parameters(sealed.subarray(0, ivLength)),
        this.#key,
        sealed.subarray(ivLength),
      )
      // whoever could seal it is one of us
      return JSON.parse(new TextDecoder().decode(opened)) as StoredToken
    } catch {
      return undefined
    }
  }

  #parameters(iv: Uint8Array<ArrayBuffer>): {
    name: string
    iv: Uint8Array<ArrayBuffer>
    additionalData: Uint8Array<ArrayBuffer>
  } {
    return { name: algorithm, iv, additionalData: this.#context }
  }
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
