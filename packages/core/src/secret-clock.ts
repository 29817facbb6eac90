import type { Credentials } from './credentials.ts'
import type { Emit } from './events.ts'

const day = 86_400_000
/** A secret must be rotated every 365 days. */
const validity = 365 * day
const thresholds = [0, 5, 10] as const

/** The 365 days of the secret in use: how many are left, and a notice once at 10, at 5 and at the end. */
export class SecretClock {
  readonly #issuer: string
  readonly #emit: Emit
  #watched: Credentials | undefined
  #noticed = Number.POSITIVE_INFINITY

  constructor(issuer: string, emit: Emit) {
    this.#issuer = issuer
    this.#emit = emit
  }

  /** Follows these credentials from now on; a new secret starts anew. */
  watch(credentials: Credentials | undefined): void {
    if (credentials?.clientSecret !== this.#watched?.clientSecret) this.#noticed = Number.POSITIVE_INFINITY
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
    if (threshold !== undefined && threshold < this.#noticed) {
      this.#noticed = threshold
      const { clientId } = this.#watched
      this.#emit?.({ type: 'secret.expiring', issuer: this.#issuer, clientId, daysLeft, threshold })
    }
    return daysLeft
  }
}
