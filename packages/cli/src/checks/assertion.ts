import { type Check, table } from './finding.ts'
import type { TokenFacts } from '../facts/token.ts'

export const unsentFix =
  "Request the assertion for the audience named in the message, check that whatever renews it is running (Kubernetes never updates a file that is mounted with `subPath`), and check this machine's clock."

/** Finds assertions from outside that do not work beside another client of the issuer. */
export const checkAssertions: Check = table({
  cases: ({ tokens }) =>
    tokens.flatMap((token) =>
      (token.clients ?? [])
        .filter(({ assertion }) => assertion !== undefined)
        .map(({ fault, outcome }) => ({ token, fault, outcome })),
    ),
  severity: 'warning',
  subject: ({ token }) => `issuer ${token.issuer}`,
  rows: [
    {
      id: 'assertion-not-sent',
      when: ({ fault }) => fault !== undefined,
      seen: ({ fault = '' }) => fault,
      why: 'The issuer would refuse it, so it was not sent. The client uses its other credentials for now; calls will fail when those expire or are revoked.',
      fix: unsentFix,
    },
    {
      id: 'assertion-refused',
      when: ({ outcome }) => outcome === 'refused',
      seen: ({ token }) =>
        `The issuer refuses the assertion, but accepts another client in the list. ${signersOf(token)}`.trim(),
      why: 'Calls will fail when the other credentials expire or are revoked.',
      fix: ({ token }) => refusedFix(token),
    },
  ],
})

/** Returns what the files of an issuer's assertions say of who signed them and for whom. */
export function signersOf({ assertionFiles = [] }: TokenFacts): string {
  return assertionFiles
    .map(
      ({ path, issuer, subject }) =>
        `The assertion in ${path} was issued by ${issuer || 'nobody (no `iss`)'} for ${subject || 'nobody (no `sub`)'}.`,
    )
    .join(' ')
}

const trust =
  "Configure the issuer to trust the assertion's signer (`iss` and its keys) for this subject (`sub`) and client."

export function refusedFix({ assertionFiles = [] }: TokenFacts): string {
  const inside = assertionFiles.find(({ issuer }) => /\.svc(?:\.|$)/.test(URL.parse(issuer)?.hostname ?? ''))
  return inside === undefined
    ? trust
    : `${trust} The issuer cannot read the keys at ${inside.issuer} unless it runs in the cluster: give it the keys, or set the cluster's \`--service-account-issuer\` to a URL it can reach.`
}
