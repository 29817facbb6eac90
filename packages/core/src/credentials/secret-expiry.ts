import type { ClientCredentials } from './credentials.ts'
import type { Emit } from '../events.ts'

const day = 86_400_000

/** How long a secret lives, and when to give notice of its end; in days. */
export interface SecretLifetime {
  readonly lifetime: number
  /** Days before the end. */
  readonly notices: readonly number[]
}

/** The lifetime of the secret in use: how many days are left, and a notice once at each of some days and at the end. */
export class SecretExpiry {
  readonly #issuer: string
  readonly #lifetime: SecretLifetime
  readonly #emit: Emit
  #watched: ClientCredentials | undefined
  /** The last threshold by secret: providers may go back and forth between two while one is rotated. */
  readonly #noticed = new Map<string, number>()

  constructor(issuer: string, lifetime: SecretLifetime, emit: Emit) {
    this.#issuer = issuer
    this.#lifetime = lifetime
    this.#emit = emit
  }

  /** Follows these credentials from now on. */
  watch(credentials: ClientCredentials | undefined): void {
    this.#watched = credentials
    this.daysLeft()
  }

  /** Returns whole days, rounded up, 0 from the end on; `undefined` where `secretIssuedAt` is unknown. */
  daysLeft(): number | undefined {
    const { clientId, secretIssuedAt: issuedAt } = this.#watched ?? {}
    if (clientId === undefined || issuedAt === undefined) return undefined
    const { lifetime, notices } = this.#lifetime
    const left = issuedAt.getTime() + lifetime * day - Date.now()
    const daysLeft = Math.max(0, Math.ceil(left / day))
    const threshold = Math.min(...[0, ...notices].filter((days) => left <= days * day))
    // two secrets of a client that were issued at once end at once
    const secret = `${issuedAt.getTime()} ${clientId}`
    if (threshold < (this.#noticed.get(secret) ?? Infinity)) {
      this.#noticed.set(secret, threshold)
      this.#emit?.({ type: 'secret.expiring', issuer: this.#issuer, clientId, daysLeft, threshold })
    }
    return daysLeft
  }
}
