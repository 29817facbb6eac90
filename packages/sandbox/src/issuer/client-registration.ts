import { randomBytes } from 'node:crypto'

/** What a registered application sends to its issuer (RFC 6749 §2.3.1). */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

/** One registered application and the secrets that are good for it right now. */
export interface ClientRegistration {
  readonly clientId: string
  /** The client id with the newest secret. */
  credentials(): ClientCredentials
  accepts(clientSecret: string): boolean
  /** Whether it is a secret of this application, accepted or not any more. */
  had(clientSecret: string): boolean
  /** How many secrets are accepted now. */
  accepted(): number
  /** Makes a new secret. The ones before stay good if `overlap` says so. */
  rotate(options: { overlap: boolean }): void
  /** Leaves only the newest secret. */
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
