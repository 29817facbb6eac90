import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Days that a secret should have left where nothing else was asked for. */
const usual = 10

/** Secrets that must be rotated. */
export function checkSecrets({ status, tokens, secretDays }: Facts): Finding[] {
  return tokens.flatMap(({ issuer, lifetime }) => {
    const daysLeft = status?.issuers[issuer]?.daysLeft
    if (daysLeft === undefined) {
      // asked for, and not to be seen: a check that says "fine" would be wrong
      if (secretDays === undefined || lifetime === undefined) return []
      return [
        finding('secret-age-unknown', 'warning', `issuer ${issuer}`, {
          seen: 'It is not known when the secret was issued.',
          why: 'Its end cannot be foreseen.',
          fix: 'Set `secretIssuedAt` of the credentials, or <PREFIX>_SECRET_ISSUED_AT with `envCredentials`.',
        }),
      ]
    }
    if (daysLeft > (secretDays ?? usual)) return []
    return [
      finding('secret-expiring', daysLeft <= 0 ? 'error' : 'warning', `issuer ${issuer}`, {
        seen: `The secret has ${daysLeft} days left.`,
        why: 'After that the issuer refuses it, and no call is sent.',
        fix: 'Rotate it: docs/guide/rotate-secret.md.',
      }),
    ]
  })
}
