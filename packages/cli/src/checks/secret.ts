import { finding, type Finding, guide, issuersOf } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** A secret with this many days left, or fewer, is reported if `--secret-days` is not given. */
const usual = 10

/** Finds secrets that must be rotated and, with `--secret-days`, secrets whose age is unknown. */
export function checkSecrets({ status, tokens, secretDays }: Facts): Finding[] {
  const daysOf = (issuer: string): number | undefined => status.issuers[issuer]?.daysLeft
  // `--secret-days` asks for an age that is not known: "fine" would be wrong
  const unknown = tokens.filter(
    ({ issuer, lifetime }) =>
      secretDays !== undefined && lifetime !== undefined && daysOf(issuer) === undefined,
  )
  const ends = tokens.flatMap(({ issuer }) => {
    const daysLeft = daysOf(issuer)
    return daysLeft === undefined || daysLeft > (secretDays ?? usual) ? [] : [ending(issuer, daysLeft)]
  })
  return unknown.length === 0 ? ends : [...ends, ofUnknownAge(unknown.map(({ issuer }) => issuer))]
}

function ofUnknownAge(issuers: readonly string[]): Finding {
  return finding('secret-age-unknown', 'warning', issuersOf(issuers), {
    seen: "The secret's issue date is not known.",
    why: 'Its expiry cannot be predicted.',
    fix: 'Set `secretIssuedAt` in the credentials, or <PREFIX>_SECRET_ISSUED_AT with `envCredentials`.',
  })
}

function ending(issuer: string, daysLeft: number): Finding {
  return finding('secret-expiring', daysLeft <= 0 ? 'error' : 'warning', issuersOf([issuer]), {
    seen:
      daysLeft <= 0
        ? "The secret's lifetime is over."
        : `The secret has ${daysLeft} day${daysLeft === 1 ? '' : 's'} left.`,
    why: 'Once it expires, the issuer refuses it and calls fail.',
    fix: `Rotate it: ${guide}/rotate-secret.md.`,
  })
}
