import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** A secret with this many days left, or fewer, is reported if `--secret-days` is not given. */
const usual = 10

/** Finds secrets that must be rotated and, with `--secret-days`, secrets whose age is unknown. */
export function checkSecrets({ status, tokens, secretDays }: Facts): Finding[] {
  return tokens.flatMap(({ issuer, lifetime }) => {
    const daysLeft = status?.issuers[issuer]?.daysLeft
    if (daysLeft === undefined) {
      // `--secret-days` asks for an age that is not known: "fine" would be wrong
      if (secretDays === undefined || lifetime === undefined) return []
      return [
        finding('secret-age-unknown', 'warning', `issuer ${issuer}`, {
          seen: 'The day on which the secret was issued is not known.',
          why: 'Its end cannot be foreseen.',
          fix: 'Set `secretIssuedAt` of the credentials, or <PREFIX>_SECRET_ISSUED_AT with `envCredentials`.',
        }),
      ]
    }
    if (daysLeft > (secretDays ?? usual)) return []
    return [
      finding('secret-expiring', daysLeft <= 0 ? 'error' : 'warning', `issuer ${issuer}`, {
        seen:
          daysLeft <= 0
            ? 'The lifetime of the secret is over.'
            : `The secret has ${daysLeft} day${daysLeft === 1 ? '' : 's'} left.`,
        why: 'Once it has ended, the issuer refuses it and calls fail.',
        fix: 'Rotate it: docs/guide/rotate-secret.md.',
      }),
    ]
  })
}
