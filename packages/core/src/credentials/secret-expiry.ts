import type { ClientCredentials } from './credentials.ts'
import type { Observer } from '../events.ts'

const day = 86_400_000

/** How long a secret lives, and when to give notice of its end; in days. */
export interface SecretLifetime {
  readonly issuer: string
  readonly secretLifetime: number
  readonly notices: readonly number[]
}

/** Follows the lifetime of the secret in use, and gives a notice once at each of some days and at the end. */
export function secretExpiry({ issuer, secretLifetime, notices }: SecretLifetime, emit: Observer) {
  let watched: ClientCredentials | undefined
  /** The last threshold by secret: providers may go back and forth between two while one is rotated. */
  const noticed = new Map<string, number>()

  const endOf = (issuedAt: Date): number => issuedAt.getTime() + secretLifetime * day

  /** Returns whole days, rounded up, 0 from the end on; `undefined` where `secretIssuedAt` is unknown. */
  function daysLeft(): number | undefined {
    const { clientId, secretIssuedAt: issuedAt } = watched ?? {}
    if (clientId === undefined || issuedAt === undefined) return undefined
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
  }

  return {
    daysLeft: (): number | undefined => daysLeft(),
    /** Returns when a secret has expired, `undefined` if it has not as far as is known. */
    pastEndOf({ secretIssuedAt: issuedAt }: ClientCredentials): Date | undefined {
      return issuedAt && endOf(issuedAt) <= Date.now() ? new Date(endOf(issuedAt)) : undefined
    },
    watch(credentials: ClientCredentials | undefined): void {
      watched = credentials
      daysLeft()
    },
  }
}
