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

/** A registered application, and the secrets and keys that are accepted from it. */
export interface ClientRegistration {
  readonly clientId: string
  /** Returns the client id with the newest secret. */
  credentials(): ClientCredentials
  /** Returns the client id with the newest key. */
  keyCredentials(): KeyCredentials
  publicKeys(): Readonly<Record<string, unknown>>[]
  /** @param proof - a secret, or the id of a key. */
  accepts(proof: string): boolean
  /** Returns whether this is or was a secret, or the id of a key, of the application. */
  had(proof: string): boolean
  /** Returns how many secrets are accepted now. */
  accepted(): number
  /** Returns which secret the client has sent last; `null` before it has sent one that was accepted. */
  inUse(): 'newest' | 'older' | null
  /** Makes a new secret and a new key. With `overlap` the earlier ones are still accepted. */
  rotate(options: { overlap: boolean }): void
  dropOldSecrets(): void
  /** Accepts no secret any more: the client can only authenticate with an assertion from the cluster. */
  dropSecrets(): void
}

/** What an application proves itself by: a secret or a key. */
interface Proof {
  clientSecret: string
  privateKey: string
  publicKey: Readonly<Record<string, unknown>>
  keyId: string
}

export function createClientRegistration(name: string): ClientRegistration {
  const clientId = `${name}-${randomBytes(6).toString('hex')}`
  const all = new Set<string>()

  const make = (): Proof => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keyId = `${name}-key-${all.size / 2 + 1}`
    // base64url: no character that a form body would have to escape
    const clientSecret = randomBytes(32).toString('base64url')
    all.add(clientSecret).add(keyId)
    return {
      clientSecret,
      keyId,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      publicKey: { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: 'ES256', use: 'sig' },
    }
  }
  let newest = make()
  let old: Proof[] = []
  let takesSecrets = true
  let inUse: Proof | undefined

  return {
    clientId,
    credentials: () => ({ clientId, clientSecret: newest.clientSecret }),
    keyCredentials: () => ({ clientId, privateKey: newest.privateKey, keyId: newest.keyId }),
    publicKeys: () => [newest, ...old].map(({ publicKey }) => publicKey),
    accepts(proof) {
      const found = [newest, ...old].find(
        ({ clientSecret, keyId }) => proof === clientSecret || proof === keyId,
      )
      if (!takesSecrets || found === undefined) return false
      inUse = found
      return true
    },
    had: (proof) => all.has(proof),
    inUse: () => (inUse === undefined ? null : inUse === newest ? 'newest' : 'older'),
    accepted: () => (takesSecrets ? old.length + 1 : 0),
    rotate({ overlap }) {
      old = overlap ? [...old, newest] : []
      newest = make()
    },
    dropOldSecrets() {
      old = []
    },
    dropSecrets() {
      takesSecrets = false
    },
  }
}
