import type { SandboxControl } from '../control/sandbox-control.ts'
import type { IssuerState } from '../control/state.ts'
import { quoted } from '../in-words.ts'
import { entryLine, type JournalEntry } from '../journal/entry.ts'
import type { Sandbox } from '../start-sandbox.ts'
import { severities } from '../verdict/rule.ts'
import type { Finding, Verdict } from '../verdict/verdict.ts'

export function welcome(
  { consoleUrl, controlUrl, authUrl, apiUrl, weblinkUrl, control }: Sandbox,
  ca: string,
): string {
  const { issuers } = control.state()
  const variables = Object.entries(control.environment()).map(
    ([name, value]) => `export ${name}=${quoted(value)}`,
  )
  return `The sandbox is ready: two token issuers and two APIs, on this machine only. Ctrl-C ends it.

  console          ${consoleUrl}
  HTTP control     ${controlUrl}/openapi.json
  general issuer   ${issuers.general.tokenEndpoint}
  general API      ${apiUrl}
  weblink issuer   ${issuers.weblink.tokenEndpoint}
  weblink API      ${weblinkUrl}
  CA certificate   ${ca}

${variables.join('\n')}

${firstToken(issuers.general, authUrl)}Cause an outage of 20 seconds:

  curl $CONTROL/v1/kill-issuer -H "Authorization: Bearer $TOKEN" -d '{"issuer":"general","for":"20s"}'
`
}

/** Returns the request for a token of the general issuer; nothing where it takes a signature, which curl cannot make. */
function firstToken({ clientAuthentication, tokenEndpoint, scope }: IssuerState, authUrl: string): string {
  if (clientAuthentication === 'private_key_jwt') return ''
  const form = [
    '-d grant_type=client_credentials',
    clientAuthentication === 'client_secret_basic'
      ? '-u "$GENERAL_CLIENT_ID:$GENERAL_CLIENT_SECRET"'
      : '-d "client_id=$GENERAL_CLIENT_ID" -d "client_secret=$GENERAL_CLIENT_SECRET"',
    ...(scope === '' ? [] : [`--data-urlencode ${quoted(`scope=${scope}`)}`]),
  ]
  return `Request a first token, with these variables. The verdict counts it as your program's request.

  curl --tlsv1.2 --cacert "$NODE_EXTRA_CA_CERTS" ${tokenEndpoint.replace(authUrl, '$AUTH_URL')} \\
    ${form.join(' ')}

`
}

/** Returns what a verdict without findings says. The counts tell a cleared journal from one that was never written to. */
export function nothingFound({ counts, journal }: Pick<SandboxControl, 'counts' | 'journal'>): string {
  if (journal({ limit: 1 }).length > 0) return 'no problems found'
  const { issuers, apis } = counts()
  const requests = Object.values(issuers).reduce((sum, issuer) => sum + issuer.requests, 0)
  const calls = Object.values(apis).reduce((sum, api) => sum + api.calls, 0)
  return requests + calls === 0 ? 'no request arrived' : 'no request arrived since the journal was cleared'
}

/**
 * Returns what the command prints at the end.
 *
 * @param nothing - what a verdict without findings says.
 */
export function verdictText(
  { findings }: Verdict,
  entryOf: (id: number) => JournalEntry | undefined,
  nothing: string,
): string {
  if (findings.length === 0) return `Verdict: ${nothing}.`
  const head = `Verdict: ${severities(findings)}`
  return [head, ...findings.map((finding) => findingText(finding, entryOf))].join('\n\n')
}

const shownEvidence = 3

function findingText(
  { rule, severity, message, fix, evidence }: Finding,
  entryOf: (id: number) => JournalEntry | undefined,
): string {
  const entries = evidence.map((id) => entryOf(id)).filter((entry) => entry !== undefined)
  const lines = entries.slice(0, shownEvidence).map((entry) => `    ${entryLine(entry)}`)
  if (entries.length > shownEvidence) lines.push('    and more, in the journal')
  return [`${severity} ${rule}: ${message}.`, `  ${fix}`, ...lines].join('\n')
}

/** What a report reads: nothing of it is a token or a secret. */
type Seen = Pick<SandboxControl, 'counts' | 'verdict' | 'journal'>

export function markdownReport(control: Seen): string {
  const { issuers, apis } = control.counts()
  const { findings } = control.verdict()
  const nothing = nothingFound(control)
  return [
    '# Sandbox report',
    findings.length === 0
      ? `${nothing.charAt(0).toUpperCase()}${nothing.slice(1)}.`
      : `${severities(findings)}.`,
    table('issuer', issuers, [
      ['token requests', 'requests'],
      ['issued', 'issued'],
      ['refused', 'refused'],
      ['failed', 'failed'],
    ]),
    table('API', apis, [
      ['calls', 'calls'],
      ['answered', 'answered'],
      ['401', 'rejected'],
      ['429', 'limited'],
      ['failed', 'failed'],
      ['most concurrent', 'maxConcurrent'],
    ]),
    ...findings.map((finding) => section(finding, control)),
  ]
    .join('\n\n')
    .concat('\n')
}

function section({ rule, severity, message, fix, evidence, count }: Finding, control: Seen): string {
  const lines = evidence.flatMap((id) => control.journal({ id }).map((entry) => `    ${entryLine(entry)}`))
  return [`## ${severity}: ${rule} (${count})`, `${message}.`, `**Fix:** ${fix}`, lines.join('\n')]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Returns a table with a row for each server, and in each column the count of this name. */
function table<Counts>(
  what: string,
  servers: Readonly<Record<string, Counts>>,
  columns: readonly (readonly [head: string, count: keyof Counts])[],
): string {
  const rows = Object.entries(servers).map(([name, counts]) =>
    [name, columns.map(([, key]) => counts[key])].flat(),
  )
  const lines = [[what, ...columns.map(([head]) => head)], ['---', ...columns.map(() => '--:')], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
