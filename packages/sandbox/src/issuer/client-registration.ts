import { randomBytes } from 'node:crypto'

/** What a registered application sends to its issuer (RFC 6749 §2.3.1). */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

/** A registered application and its accepted secrets. */
export interface ClientRegistration {
  readonly clientId: string
  /** Returns the client id with the newest secret. */
  credentials(): ClientCredentials
  accepts(clientSecret: string): boolean
  /** Returns whether this is or was a secret of the application. */
  had(clientSecret: string): boolean
  /** Returns how many secrets are accepted now. */
  accepted(): number
  /** Makes a new secret. With `overlap` the earlier secrets are still accepted. */
  rotate(options: { overlap: boolean }): void
  /** Accepts only the newest secret from now on. */
  dropOldSecrets(): void
}

// base64url: no character that a form body would have to escape
const randomSecret = (): string => randomBytes(32).toString('base64url')

export function createClientRegistration(name: string): ClientRegistration {
  const clientId = `${name}-${randomBytes(6).toString('hex')}`
  let newest = randomSecret()
  let old: string[] = []
  const all = new Set([newest])

  return {
    clientId,
    credentials: () => ({ clientId, clientSecret: newest }),
    accepts: (clientSecret) => clientSecret === newest || old.includes(clientSecret),
    had: (clientSecret) => all.has(clientSecret),
    accepted: () => old.length + 1,
    rotate({ overlap }) {
      old = overlap ? [...old, newest] : []
      newest = randomSecret()
      all.add(newest)
    },
    dropOldSecrets() {
      old = []
    },
  }
}
