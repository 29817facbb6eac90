import { type Check, issuersOf, row, table } from './finding.ts'
import { guide } from '../guide.ts'
import type { Facts } from '../facts/facts.ts'
import { renewal } from './client-certificate.ts'
import { variableOf } from '../credential-variables.ts'

/** A secret with this many days left, or fewer, is reported if `--secret-days` is not given. */
const usual = 10

const day = 86_400_000

/** Finds secrets and client certificates that must be rotated. */
export const checkEnding: Check = table({
  cases: ({ now, status, tokens, configuration, secretDays = usual }) =>
    tokens.flatMap(({ issuer, lifetime, secretIssuedAt: issued, certificateUntil: until }) => {
      const readFrom = readFromOf(issuer, configuration)
      const left =
        until === undefined ? status.issuers[issuer]?.daysLeft : (until.getTime() - now.getTime()) / day
      if (left === undefined || left > secretDays) return []
      // if a certificate is refused, the finding about that names its end
      if (until !== undefined && lifetime === undefined) return []
      const age = issued && days((now.getTime() - issued.getTime()) / day)
      const said = issued ? `: it was issued on ${dateOf(issued)}, ${age} ago` : ''
      return [{ issuer, left, until, said, readFrom }]
    }),
  subject: ({ issuer }) => issuersOf([issuer]),
  rows: [
    {
      id: 'secret-expiring',
      severity: 'warning',
      when: ({ until }) => until !== undefined,
      seen: ({ left, until }) =>
        `The client certificate ${left <= 0 ? 'expired' : 'expires'} on ${until && dateOf(until)}${left <= 0 ? '' : `, in ${days(left)}`}.`,
      why: 'Most issuers refuse an expired certificate, and calls fail.',
      fix: ({ readFrom }) => renewal(readFrom),
    },
    {
      id: 'secret-expiring',
      severity: ({ left }) => (left <= 0 ? 'error' : 'warning'),
      seen: ({ left, said }) =>
        left <= 0 ? `The secret has expired${said}.` : `The secret has ${days(left)} left${said}.`,
      why: 'The issuer refuses an expired secret, and calls fail.',
      fix({ readFrom }) {
        const names = ['clientSecret', 'secretIssuedAt'].flatMap((field) => variableOf(field, readFrom) ?? [])
        return `Rotate it${names.length > 0 ? `, and set ${names.join(' and ')}` : ''}: ${guide}/rotate-secret.md.`
      },
    },
  ],
})

/** Finds, with `--secret-days`, secrets whose age is unknown: "fine" would be wrong. One finding for all. */
export const checkUnknownAge: Check = row({
  cases({ status, tokens, configuration, secretDays }) {
    const unknown = tokens.filter(
      ({ issuer, lifetime, certificateUntil }) =>
        lifetime !== undefined && (certificateUntil ?? status.issuers[issuer]?.daysLeft) === undefined,
    )
    if (secretDays === undefined || unknown.length === 0) return []
    const issuers = unknown.map(({ issuer }) => issuer)
    const names = issuers.map((issuer) => variableOf('secretIssuedAt', readFromOf(issuer, configuration)))
    return [{ issuers, names }]
  },
  id: 'secret-age-unknown',
  severity: 'warning',
  subject: ({ issuers }) => issuersOf(issuers),
  seen: "The secret's issue date is not known.",
  why: 'Its expiry cannot be predicted.',
  fix: ({ names }) =>
    names.every((name) => name !== undefined)
      ? `Set ${names.join(' and ')} to a date, such as 2026-11-21.`
      : 'Set `secretIssuedAt` in the credentials, or <PREFIX>_SECRET_ISSUED_AT with `envCredentials`.',
})

function readFromOf(issuer: string, { issuers }: Facts['configuration']): string {
  return issuers.find(({ name }) => name === issuer)?.credentials ?? ''
}

function dateOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function days(count: number): string {
  const whole = Math.floor(count)
  return `${whole} day${whole === 1 ? '' : 's'}`
}
