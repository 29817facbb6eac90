// Writes docs/exam.md: the grade that `tokenlane judge` gives to Tokenlane, to clients by hand and to those of others. A quarter of
// an hour; with names as arguments, judges these clients alone and prints.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { judgedClients, type JudgedClient } from './clients.ts'
import { confirmed, placeOf } from './confirmed.ts'

interface Exam {
  readonly grade: string | null
  readonly scenes: readonly {
    readonly name: string
    readonly title: string
    readonly notGraded?: string
    readonly findings: readonly { readonly rule: string; readonly severity: string }[]
    readonly duration: number
  }[]
}
type Scene = Exam['scenes'][number]

/** How many exams run at the same time. An exam mostly waits, and judges counts, which do not depend on speed. */
const atOnce = 8

const main = join(import.meta.dirname, '../../packages/cli/src/main.ts')
const page = new URL('../../docs/exam.md', import.meta.url)
const asked = process.argv.slice(2)
const built = mkdtempSync(join(tmpdir(), 'exam-'))
process.once('exit', () => rmSync(built, { recursive: true, force: true }))

const clients = judgedClients(built).filter(({ name }) => asked.length === 0 || asked.includes(name))
const exams: (JudgedClient & Exam)[] = []
const waiting = [...clients.entries()]
await Promise.all(Array.from({ length: atOnce }, judgeNext))
if (asked.length === 0) {
  writeFileSync(page, text())
  mustBeFound()
}

async function judgeNext(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [index, client] = next
    const exam = await examOf(client)
    exams[index] = { ...client, ...exam }
    console.log(`${client.name} ${client.version}: ${exam.grade}, ${Math.round(timeOf(exam))} s`)
    for (const found of foundIn(exam)) console.log(found)
  }
}

/** Throws if a finding that was confirmed in the source is none of the exam. */
function mustBeFound(): void {
  for (const { client, scene, rule } of confirmed) {
    const played = exams.find(({ name }) => name === client)?.scenes.find(({ name }) => name === scene)
    if (played?.findings.some((each) => each.rule === rule) === false)
      throw new Error(`Not found: ${rule} of ${client} in ${scene}`)
  }
}

async function examOf({ command }: JudgedClient): Promise<Exam> {
  const { promise, resolve, reject } = Promise.withResolvers<Exam>()
  // status 1 means findings
  execFile(process.execPath, ['--', main, 'judge', '--json', '--', ...command], (_, stdout, stderr) => {
    if (stdout === '') reject(new Error(`Cannot judge ${command.join(' ')}: ${stderr}`))
    else resolve(JSON.parse(stdout) as Exam)
  })
  return promise
}

function timeOf({ scenes }: Exam): number {
  return scenes.reduce((sum, { duration }) => sum + duration, 0) / 1_000
}

/** Returns a line for each scene with findings. */
function foundIn({ scenes }: Exam): string[] {
  return scenes.flatMap(({ name, findings }) =>
    findings.length === 0
      ? []
      : `- \`${name}\`: ${findings.map(({ rule, severity }) => (severity === 'error' ? rule : `${rule} (warning)`)).join(', ')}`,
  )
}

function markOf({ notGraded, findings }: Scene): string {
  if (notGraded !== undefined) return '-'
  if (findings.some(({ severity }) => severity === 'error')) return '✗'
  return findings.length > 0 ? '!' : '✓'
}

/** Returns in how many of the graded scenes no error was found. */
function passedOf({ scenes }: Exam): string {
  const graded = scenes.map(markOf).filter((mark) => mark !== '-')
  return `${graded.filter((mark) => mark !== '✗').length} of ${graded.length}`
}

function text(): string {
  const [first] = exams
  const names = first?.scenes.map(({ name }) => name) ?? []
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  const rows = exams.map((exam) =>
    line([
      `${exam.name} ${exam.version}`.trim(),
      exam.grade ?? 'none',
      passedOf(exam),
      ...exam.scenes.map(markOf),
    ]),
  )
  const found = exams
    .filter((exam) => foundIn(exam).length > 0)
    .map((exam) => `### ${exam.name}\n\n${foundIn(exam).join('\n')}\n`)
  const versions = new Map(clients.map(({ name, version }) => [name, version]))
  const proofs = confirmed
    .filter(({ client }) => versions.has(client))
    .map((each) => {
      const { client, scene, rule, finding, code } = each
      const [line1 = ''] = code.trim().split('\n')
      return `- **${client}** ${versions.get(client)}, \`${scene}\`, ${rule}. ${finding} ${placeOf(each)}: \`${line1}\`\n`
    })
  return `# The exam: clients compared

[\`tokenlane judge\`](guide/judge.md) graded each client through a short program that uses the client as its documentation
shows. The programs are here: [npm packages](../bench/peers), [other clients](../bench/judge/clients),
[Tokenlane](../examples/judge/client.ts).

✓ means passed, ! passed with warnings, ✗ failed, and - not graded because [too little was seen](guide/judge.md#how-a-program-is-graded). The scenes are ${new Intl.ListFormat('en-GB').format(names.map((name, index) => `${index + 1} \`${name}\``))}.

${line(['client', 'grade', 'passed', ...names.map((_, index) => `${index + 1}`)])}${line(['---', ...['', '', ...names].map(() => ':-:')])}${rows.join('')}
Written by \`pnpm --dir tools/docs write exam\` on Node ${process.versions.node}. ${atOnce} exams ran at the same time. Each took ${Math.round(Math.min(...exams.map(timeOf)))} to ${Math.round(Math.max(...exams.map(timeOf)))} seconds, and Tokenlane's took ${Math.round(first === undefined ? 0 : timeOf(first))}.

Read the table with these points in mind:

- A client that only gets tokens is not designed to handle rate limits or to resend calls. Its row shows what it leaves to
  the program around it. It does not show that the client breaks its documentation's promises.
- Every program except Tokenlane's reads the secret once, at start-up, so in both rotation scenes its calls fail until the
  program is restarted.
- Three-second tokens are short for a client that renews minutes before expiry, so \`needless-renewal\` is a warning in \`expiry\`.
- \`old-tls\` and \`no-keep-alive\` are only warnings in this exam, because they come from the underlying HTTP client and TLS
  library.
- @azure/msal-node always sends a scope, so its program calls only the weblink API.
- @azure/core-rest-pipeline, axios-auth-refresh and google-auth-library leave the token request to the program. If
  this request does not check its response, for example for a missing token, that is the program's fault.
- @modelcontextprotocol/client sends its first calls without a token, as MCP servers expect, so \`missing-token\` is not a
  mistake there. It needs metadata that the sandbox does not publish, so the program supplies this metadata.
- F covers a wide range, so the number of scenes passed says more. With the same seed, each client got the same grade 20
  times in a row. For six clients, some marks in the table varied.

## What was found

The rules are explained on [the sandbox page](guide/sandbox.md#verdict) and [the judge page](guide/judge.md#the-scenes).

${found.join('\n')}
## Confirmed in the source

No table should make a false accusation. These findings were confirmed in the client's own source: each is listed with the
line that causes it. The script that writes this page fails if a line or a finding is gone.

${proofs.join('')}`
}
