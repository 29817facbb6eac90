import { generateKeyPairSync, randomBytes } from 'node:crypto'

/** What a registered application sends to its issuer (RFC 6749 §2.3.1). */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

/** What a registered application signs its assertions with (RFC 7523 §2.2). */
export interface KeyCredentials {
  clientId: string
  /** PKCS#8, PEM; an ES256 key. */
  privateKey: string
  /** The `kid` of assertions. */
  keyId: string
}

/** What an application proves itself by: a secret or a key. */
interface Proof {
  clientSecret: string
  privateKey: string
  publicKey: Readonly<Record<string, unknown>>
  keyId: string
}

/** A registered application, and the secrets and keys that are accepted from it. */
export class ClientRegistration {
  readonly #name: string
  readonly clientId: string
  readonly #all = new Set<string>()
  #newest: Proof
  #old: Proof[] = []
  #takesSecrets = true
  #inUse: Proof | undefined

  constructor(name: string) {
    this.#name = name
    this.clientId = `${name}-${randomBytes(6).toString('hex')}`
    this.#newest = this.#make()
  }

  #make(): Proof {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keyId = `${this.#name}-key-${this.#all.size / 2 + 1}`
    // base64url: no character that a form body would have to escape
    const clientSecret = randomBytes(32).toString('base64url')
    this.#all.add(clientSecret).add(keyId)
    return {
      clientSecret,
      keyId,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      publicKey: { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: 'ES256', use: 'sig' },
    }
  }

  /** Returns the client id with the newest secret. */
  credentials(): ClientCredentials {
    return { clientId: this.clientId, clientSecret: this.#newest.clientSecret }
  }

  /** Returns the client id with the newest key. */
  keyCredentials(): KeyCredentials {
    const { privateKey, keyId } = this.#newest
    return { clientId: this.clientId, privateKey, keyId }
  }

  publicKeys(): Readonly<Record<string, unknown>>[] {
    return [this.#newest, ...this.#old].map(({ publicKey }) => publicKey)
  }

  /** @param proof - a secret, or the id of a key. */
  accepts(proof: string): boolean {
    const found = [this.#newest, ...this.#old].find(
      ({ clientSecret, keyId }) => proof === clientSecret || proof === keyId,
    )
    if (!this.#takesSecrets || found === undefined) return false
    this.#inUse = found
    return true
  }

  /** Returns whether this is or was a secret, or the id of a key, of the application. */
  had(proof: string): boolean {
    return this.#all.has(proof)
  }

  /** Returns how many secrets are accepted now. */
  accepted(): number {
    return this.#takesSecrets ? this.#old.length + 1 : 0
  }

  /** Returns which secret the client has sent last; `null` before it has sent one that was accepted. */
  inUse(): 'newest' | 'older' | null {
    if (this.#inUse === undefined) return null
    return this.#inUse === this.#newest ? 'newest' : 'older'
  }

  /** Makes a new secret and a new key. With `overlap` the earlier ones are still accepted. */
  rotate({ overlap }: { overlap: boolean }): void {
    this.#old = overlap ? [...this.#old, this.#newest] : []
    this.#newest = this.#make()
  }

  dropOldSecrets(): void {
    this.#old = []
  }

  /** Accepts no secret any more: the client can only authenticate with an assertion from the cluster. */
  dropSecrets(): void {
    this.#takesSecrets = false
  }
}
