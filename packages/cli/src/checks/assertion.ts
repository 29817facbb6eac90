import { type Check, table, together } from './finding.ts'
import type { TokenFacts } from '../facts/token.ts'

export const unsentFix =
  "Request the assertion for the audience named in the message, check that whatever renews it is running (Kubernetes never updates a file that is mounted with `subPath`), and check this machine's clock."

const checkOutcomes: Check = table({
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

/** The kubelet replaces a file at four fifths of its life, and looks about once a minute, in milliseconds. */
const grace = 120_000

const checkFiles: Check = table({
  cases: ({ tokens, now }) =>
    tokens.flatMap(({ issuer, assertionFiles = [] }) =>
      assertionFiles.map(({ path, isReadableByAll, replacedAt, expiresAt = now }) => {
        const [age, left] = [now.getTime() - replacedAt.getTime(), expiresAt.getTime() - now.getTime()]
        return { issuer, path, isReadableByAll, age, left }
      }),
    ),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'assertion-readable',
      when: ({ isReadableByAll }) => isReadableByAll,
      seen: ({ path }) => `Every user on this machine can read ${path}.`,
      why: 'Anyone who can read an assertion can get tokens with it until it expires.',
      fix: "Make it readable only by the application's user (mode 0600 or 0640).",
    },
    {
      id: 'assertion-stale',
      // one that has expired is not sent anyway
      when: ({ age, left }) => left > 0 && age > (age + left) * 0.8 + grace,
      seen: ({ path, age, left }) =>
        `${path} was last replaced ${minutes(age)} ago. Its assertion expires in ${minutes(left)}.`,
      why: 'It should have been replaced after four fifths of its lifetime. Once it expires, there are no new tokens.',
      fix: 'Check that whatever renews the file is running, and that its whole folder is mounted: Kubernetes never updates a file mounted with `subPath`, or a copy.',
    },
  ],
})

export const checkAssertions: Check = together(checkOutcomes, checkFiles)

const minutes = (ms: number): string => `${Math.floor(ms / 60_000)} min`

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
