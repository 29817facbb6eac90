import type { Credentials } from './credentials.ts'
import type { Emit } from '../events.ts'

const day = 86_400_000
/** A secret must be rotated every 365 days. */
const validity = 365 * day
const thresholds = [0, 5, 10] as const

/** The 365 days of the secret in use: how many are left, and a notice once at 10, at 5 and at the end. */
export class SecretClock {
  readonly #issuer: string
  readonly #emit: Emit
  #watched: Credentials | undefined
  /** The last threshold by secret: providers may go back and forth between two while one is rotated. */
  readonly #noticed = new Map<string, number>()

  constructor(issuer: string, emit: Emit) {
    this.#issuer = issuer
    this.#emit = emit
  }

  /** Follows these credentials from now on. */
  watch(credentials: Credentials | undefined): void {
    this.#watched = credentials
    this.daysLeft()
  }

  /** Whole days, rounded up, 0 from the end on; `undefined` where nobody said when the secret was issued. */
  daysLeft(): number | undefined {
    const issuedAt = this.#watched?.secretIssuedAt
    if (this.#watched === undefined || issuedAt === undefined) return undefined
    const left = issuedAt.getTime() + validity - Date.now()
    const daysLeft = Math.max(0, Math.ceil(left / day))
    const threshold = thresholds.find((days) => left <= days * day)
    const { clientId, clientSecret } = this.#watched
    if (
      threshold !== undefined &&
      threshold < (this.#noticed.get(clientSecret) ?? Number.POSITIVE_INFINITY)
    ) {
      this.#noticed.set(clientSecret, threshold)
      this.#emit?.({ type: 'secret.expiring', issuer: this.#issuer, clientId, daysLeft, threshold })
    }
    return daysLeft
  }
}
