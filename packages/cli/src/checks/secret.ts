import { type Check, issuersOf, row, table, together } from './finding.ts'
import { guide } from '../guide.ts'
import type { Facts } from '../facts/facts.ts'
import { renewal } from './client-certificate.ts'
import { variableOf } from '../credential-variables.ts'
import { dateOf, day, days } from './words.ts'

/** A secret with this many days left, or fewer, is reported if `--secret-days` is not given. */
const usual = 10

const checkEnding: Check = table({
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
const checkUnknownAge: Check = row({
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

const checkOutcomes: Check = table({
  cases: ({ tokens }) =>
    tokens.flatMap(({ issuer, clients = [] }) => {
      const secrets = clients.filter(({ assertion }) => assertion === undefined)
      const accepted = secrets.filter(({ outcome }) => outcome === 'accepted').length
      const refused = secrets.findIndex(({ outcome }) => outcome === 'refused')
      const isProved = clients.some((one) => one.assertion !== undefined && one.outcome === 'accepted')
      const one = { issuer, all: secrets.length, accepted, refused }
      // beside an assertion that works, a secret may be dropped, and may be one of several
      return [
        ...(isProved && accepted > 0 ? [{ ...one, isDroppable: true }] : []),
        { ...one, isDroppable: false },
      ]
    }),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'secret-droppable',
      severity: 'info',
      when: ({ isDroppable }) => isDroppable,
      seen: 'The issuer accepts the assertion as well as the secret.',
      why: 'The secret is not needed any more.',
      fix: `Put the assertion first in the list in every process, then revoke the secret at the issuer: ${guide}/workload-identity.md#drop-the-secret-in-three-steps.`,
    },
    {
      id: 'secrets-both-live',
      when: ({ accepted }) => accepted > 1,
      seen: ({ accepted, all }) => `The issuer accepts ${accepted} of the ${all} secrets.`,
      why: 'The rotation is not finished, and an old secret that still works can be misused.',
      fix: 'When every process has the new secret, revoke the old one at the issuer and remove it here.',
    },
    {
      id: 'secret-refused',
      when: ({ refused }) => refused >= 0,
      seen: ({ refused, all }) => `The issuer refuses secret ${refused + 1} of ${all}, but accepts another.`,
      why: ({ refused }) =>
        refused === 0
          ? 'The old secret no longer works: every new process tries it first, and is refused.'
          : 'If it is the next secret, calls will fail when the current one expires.',
      fix: ({ refused }) =>
        refused === 0
          ? 'Put the newer secret first, and remove the old one.'
          : 'If it is the next secret, copy it again. If it is the old one, remove it.',
    },
  ],
})

export const checkSecrets: Check = together(checkEnding, checkUnknownAge, checkOutcomes)

function readFromOf(issuer: string, { issuers }: Facts['configuration']): string {
  return issuers.find(({ name }) => name === issuer)?.credentials ?? ''
}
