import { printable } from '@tokenlane/core/adapter'

/** The pages that this package brings, as `scripts/shipped-pages.ts` copies them: those that messages name, and more. */
export const guide = 'node_modules/tokenlane/guide'

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
  /** The section that explains it: a path in the folder of an application that has this package. */
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
  'no-response',
  'proxy-unused',
  'proxy-failed',
  'proxy-password',
  'own-fetch-failed',
  'tls-too-old',
  'authority-unknown',
  'authority-private',
  'ca-file-ignored',
  'env-file-ignored',
  'certificate-expired',
  'certificate-not-yet-valid',
  'certificate-expires',
  'certificate-host',
  'certificate-wrong',
  'clock-off',
  'environments-mixed',
  'wrong-secret',
  'wrong-key',
  'credentials-exchanged',
  'request-refused',
  'credentials-missing',
  'wrong-path',
  'not-an-issuer',
  'firewall-page',
  'issuer-trouble',
  'token-missing',
  'lifetime-short',
  'client-without-tokens',
  'call-unrouted',
  'call-unauthorized',
  'call-wrong-issuer',
  'audience-differs',
  'token-contested',
  'call-forbidden',
  'call-limited',
  'call-failed',
  'policy-differs',
  'policy-slow',
  'policy-missing',
  'secret-expiring',
  'secret-age-unknown',
  'secrets-both-live',
  'secret-refused',
  'secret-droppable',
  'assertion-not-sent',
  'assertion-refused',
  'assertion-readable',
  'assertion-stale',
  'store-failed',
  'limiter-failed',
  'eviction-policy',
] as const

/** Returns a finding that points to its section in docs/guide/doctor.md. Parts of what was seen are texts of servers. */
export function finding(
  id: FindingId,
  severity: Finding['severity'],
  subject: string,
  { seen, why, fix }: Pick<Finding, 'seen' | 'why' | 'fix'>,
): Finding {
  const url = `${guide}/doctor.md#${id}`
  return { id, severity, subject: printable(subject, longest), seen: printable(seen, longest), why, fix, url }
}

/** How long a text may be that names all servers, in characters. */
const longest = 1_000

/** Returns the subject of a finding about issuers. */
export function issuersOf(names: readonly string[]): string {
  return `${names.length > 1 ? 'issuers' : 'issuer'} ${names.join(', ')}`
}
