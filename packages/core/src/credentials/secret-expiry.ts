import type { ClientCredentials } from './credentials.ts'
import type { Observer } from '../events.ts'

const day = 86_400_000

/** How long a secret lives, and when to give notice of its end; in days. */
export interface SecretLifetime {
  readonly issuer: string
  readonly secretLifetime: number
  readonly notices: readonly number[]
}

/** Follows the lifetime of secrets, and gives a notice once at each of some days and at the end. */
export function secretExpiry({ issuer, secretLifetime, notices }: SecretLifetime, emit: Observer) {
  /** The last threshold by secret: providers may go back and forth between two while one is rotated. */
  const noticed = new Map<string, number>()

  const endOf = (issuedAt: Date): number => issuedAt.getTime() + secretLifetime * day

  return {
    /** Returns whole days, rounded up, 0 from the end on, and gives the notice that is due. */
    daysLeft(clientId: string, issuedAt: Date): number {
      const end = endOf(issuedAt)
      const left = end - Date.now()
      const days = Math.max(0, Math.ceil(left / day))
      const threshold = Math.min(...[0, ...notices].filter((notice) => left <= notice * day))
      // two secrets of a client that were issued at once end at once
      const secret = `${end} ${clientId}`
      if (threshold < (noticed.get(secret) ?? Infinity)) {
        noticed.set(secret, threshold)
        emit({ type: 'secret.expiring', issuer, clientId, daysLeft: days, threshold })
      }
      return days
    },
    /** Returns when a secret has expired, `undefined` if it has not as far as is known. */
    pastEndOf({ secretIssuedAt: issuedAt }: ClientCredentials): Date | undefined {
      return issuedAt && endOf(issuedAt) <= Date.now() ? new Date(endOf(issuedAt)) : undefined
    },
  }
}
