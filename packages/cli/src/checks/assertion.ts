import { type Check, row } from './finding.ts'
import type { AssertionFile } from '../facts/assertion-file.ts'
import type { TokenFacts } from '../facts/token.ts'

/** The kubelet replaces a file at four fifths of its life, and looks about once a minute, in milliseconds. */
const grace = 120_000

/** Finds files of assertions that other users may read. */
export const checkReadable: Check = row({
  cases: ({ tokens }) => filesIn(tokens).filter(({ isReadableByAll }) => isReadableByAll),
  id: 'assertion-readable',
  severity: 'warning',
  subject: ({ of }) => `issuer ${of}`,
  seen: ({ path }) => `Every user on this machine can read ${path}.`,
  why: 'Anyone who can read an assertion can get tokens with it until it expires.',
  fix: "Make it readable only by the application's user (mode 0600 or 0640).",
})

/** Finds files of assertions that nothing has replaced in time; an assertion that has expired is not sent anyway. */
export const checkStale: Check = row({
  cases: ({ tokens, now }) =>
    filesIn(tokens).flatMap(({ of, path, replacedAt, expiresAt }) => {
      if (expiresAt === undefined || expiresAt <= now) return []
      const [age, left] = [now.getTime() - replacedAt.getTime(), expiresAt.getTime() - now.getTime()]
      return age > (age + left) * 0.8 + grace ? [{ of, path, age, left }] : []
    }),
  id: 'assertion-stale',
  severity: 'warning',
  subject: ({ of }) => `issuer ${of}`,
  seen: ({ path, age, left }) =>
    `${path} was last replaced ${minutes(age)} ago. Its assertion expires in ${minutes(left)}.`,
  why: 'It should have been replaced after four fifths of its lifetime. Once it expires, there are no new tokens.',
  fix: 'Check that whatever renews the file is running, and that its whole folder is mounted: Kubernetes never updates a file mounted with `subPath`, or a copy.',
})

/** Every file of an assertion, with the name of its issuer. */
function filesIn(tokens: readonly TokenFacts[]): (AssertionFile & { readonly of: string })[] {
  return tokens.flatMap(({ issuer: of, assertionFiles = [] }) =>
    assertionFiles.map((file) => Object.assign({ of }, file)),
  )
}

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

export const unsentFix =
  "Request the assertion for the audience named in the message, check that whatever renews it is running, and check this machine's clock."
