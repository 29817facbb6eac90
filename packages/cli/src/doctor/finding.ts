/** A fault, or a fact that an operator should know. Holds no secret, token, query or body. */
export interface Finding {
  /** Stable across releases, such as `wrong-secret`: each has a section in docs/guide/doctor.md. */
  readonly id: FindingId
  /** `error`: calls fail. `warning`: calls will fail, or are not safe. `info`: worth knowing. */
  readonly severity: 'error' | 'warning' | 'info'
  /** The issuer, server, option or package that it is about. */
  readonly subject: string
  readonly seen: string
  readonly why: string
  readonly fix: string
  /** The section that explains it: a path from the root of the repository. */
  readonly url: string
}

export type FindingId = (typeof findingIds)[number]

export const findingIds = [
  'option-wrong',
  'tls-floor',
  'tls-unverified',
  'packages-differ',
  'core-copies',
  'host-unknown',
  'connection-refused',
  'connection-failed',
  'proxy-unused',
  'proxy-failed',
  'own-fetch-failed',
  'tls-too-old',
  'authority-unknown',
  'authority-private',
  'certificate-expired',
  'certificate-expires',
  'certificate-host',
  'certificate-wrong',
  'clock-off',
  'environments-mixed',
  'wrong-secret',
  'credentials-exchanged',
  'request-refused',
  'credentials-missing',
  'wrong-path',
  'not-an-issuer',
  'firewall-page',
  'issuer-trouble',
  'token-missing',
  'lifetime-short',
  'call-unrouted',
  'call-unauthorized',
  'call-wrong-issuer',
  'call-forbidden',
  'call-failed',
  'policy-differs',
  'policy-missing',
  'secret-expiring',
  'secret-age-unknown',
  'secrets-both-live',
  'secret-refused',
  'store-failed',
  'limiter-failed',
  'eviction-policy',
] as const

/** Returns a finding that points to its section in docs/guide/doctor.md. */
export function finding(
  id: FindingId,
  severity: Finding['severity'],
  subject: string,
  { seen, why, fix }: Pick<Finding, 'seen' | 'why' | 'fix'>,
): Finding {
  return { id, severity, subject, seen, why, fix, url: `docs/guide/doctor.md#${id}` }
}
