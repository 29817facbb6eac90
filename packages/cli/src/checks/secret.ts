import { finding, type Finding, guide, issuersOf } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { renewal } from './client-certificate.ts'
import { variableOf } from '../credential-variables.ts'

/** A secret with this many days left, or fewer, is reported if `--secret-days` is not given. */
const usual = 10

/** Finds secrets that must be rotated and, with `--secret-days`, secrets whose age is unknown. */
export function checkSecrets({ now, status, tokens, configuration, secretDays }: Facts): Finding[] {
  const readFrom = (issuer: string): string =>
    configuration.issuers.find(({ name }) => name === issuer)?.credentials ?? ''
  const daysOf = (issuer: string): number | undefined => status.issuers[issuer]?.daysLeft
  // `--secret-days` asks for an age that is not known: "fine" would be wrong
  const unknown = tokens.filter(
    ({ issuer, lifetime, certificateUntil }) =>
      secretDays !== undefined &&
      lifetime !== undefined &&
      (certificateUntil ?? daysOf(issuer)) === undefined,
  )
  const ends = tokens.flatMap(({ issuer, lifetime, secretIssuedAt, certificateUntil }) => {
    if (certificateUntil !== undefined) {
      const left = (certificateUntil.getTime() - now.getTime()) / 86_400_000
      // if it is refused, the finding about that names its end
      const isSoon = lifetime !== undefined && left <= (secretDays ?? usual)
      return isSoon ? [endingCertificate(issuer, readFrom(issuer), certificateUntil, left)] : []
    }
    const daysLeft = daysOf(issuer)
    if (daysLeft === undefined || daysLeft > (secretDays ?? usual)) return []
    return [ending({ issuer, daysLeft, secretIssuedAt, readFrom: readFrom(issuer), now })]
  })
  return unknown.length === 0
    ? ends
    : [
        ...ends,
        ofUnknownAge(
          unknown.map(({ issuer }) => issuer),
          readFrom,
        ),
      ]
}

function ofUnknownAge(issuers: readonly string[], readFrom: (issuer: string) => string): Finding {
  const variables = issuers.map((issuer) => variableOf('secretIssuedAt', readFrom(issuer)))
  return finding('secret-age-unknown', 'warning', issuersOf(issuers), {
    seen: "The secret's issue date is not known.",
    why: 'Its expiry cannot be predicted.',
    fix: variables.every((name) => name !== undefined)
      ? `Set ${variables.join(' and ')} to a date, such as 2026-11-21.`
      : 'Set `secretIssuedAt` in the credentials, or <PREFIX>_SECRET_ISSUED_AT with `envCredentials`.',
  })
}

interface EndingSecret {
  readonly issuer: string
  readonly daysLeft: number
  readonly secretIssuedAt: Date | undefined
  readonly readFrom: string
  readonly now: Date
}

function ending({ issuer, daysLeft, secretIssuedAt: issuedAt, readFrom, now }: EndingSecret): Finding {
  const issued =
    issuedAt &&
    `: it was issued on ${issuedAt.toISOString().slice(0, 10)}, ${days((now.getTime() - issuedAt.getTime()) / 86_400_000)} ago`
  const variables = ['clientSecret', 'secretIssuedAt'].flatMap((field) => variableOf(field, readFrom) ?? [])
  return finding('secret-expiring', daysLeft <= 0 ? 'error' : 'warning', issuersOf([issuer]), {
    seen:
      daysLeft <= 0
        ? `The secret has expired${issued ?? ''}.`
        : `The secret has ${days(daysLeft)} left${issued ?? ''}.`,
    why: 'The issuer refuses an expired secret, and calls fail.',
    fix: `Rotate it${variables.length > 0 ? `, and set ${variables.join(' and ')}` : ''}: ${guide}/rotate-secret.md.`,
  })
}

function endingCertificate(issuer: string, readFrom: string, until: Date, daysLeft: number): Finding {
  const verb = daysLeft <= 0 ? 'expired' : 'expires'
  return finding('secret-expiring', 'warning', issuersOf([issuer]), {
    seen: `The client certificate ${verb} on ${until.toISOString().slice(0, 10)}${daysLeft <= 0 ? '' : `, in ${days(daysLeft)}`}.`,
    why: 'Most issuers refuse an expired certificate, and calls fail.',
    fix: renewal(readFrom),
  })
}

function days(count: number): string {
  const whole = Math.floor(count)
  return `${whole} day${whole === 1 ? '' : 's'}`
}
