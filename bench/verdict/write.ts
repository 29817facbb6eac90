// Writes docs/verdict.md: what the sandbox's verdict says of Tokenlane, of clients written by hand and of other
// libraries. Two to three minutes.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox, type Verdict } from '@tokenlane/sandbox'

import { peers } from '../peers/all.ts'
import { versions } from '../support/page.ts'
import type { Part } from './child.ts'
import { scenes } from './scenes.ts'

const page = new URL('../../docs/verdict.md', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'verdict-'))
const names = Object.keys(scenes)

const rows: string[][] = []
for (const peer of Object.keys(peers)) {
  const cells: string[] = []
  for (const scene of names) cells.push(cellOf(await verdictOf(peer, scene)))
  rows.push([peer, ...cells])
  console.log(rows.at(-1)?.join(' | '))
}
rmSync(folder, { recursive: true })
writeFileSync(page, text())

async function verdictOf(peer: string, scene: string): Promise<Verdict> {
  const { tokenLifetime, quota } = scenes[scene] ?? {}
  const caFile = join(folder, 'ca.pem')
  const sandbox = await startSandbox({
    control: true,
    caFile,
    ...(tokenLifetime !== undefined && { tokenLifetime }),
    ...(quota !== undefined && { ratePolicies: { weblink: { limits: [{ quota, window: 1_000 }] } } }),
  })
  sandbox.control.slowIssuer('weblink', { median: 50, p99: 200 })
  const { weblinkUrl: baseUrl, controlUrl = '', controlToken = '', credentials, control } = sandbox
  const child = fork(new URL('child.ts', import.meta.url), {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile },
  })
  const { tokenEndpoint: tokenUrl } = control.state().issuers.weblink
  const part: Part = { peer, scene, tokenUrl, baseUrl, controlUrl, controlToken, ...credentials.weblink }
  child.send(part)
  await once(child, 'exit')
  const verdict = control.verdict()
  await sandbox.close()
  return verdict
}

function cellOf({ findings }: Verdict): string {
  if (findings.length === 0) return '✓'
  return findings.map(({ rule, count }) => `${rule} ${count.toLocaleString('en-US')}`).join('<br>')
}

function text(): string {
  const headings = names.map((name) => scenes[name]?.heading ?? '')
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return `# What the verdict says about other clients

Written by \`pnpm --dir tools/docs write verdict\` on Node ${process.versions.node}. Each client makes its calls to the sandbox's weblink API, in a process of its
own, through [a few lines](../bench/peers) that follow its documentation. The sandbox
[grades it](../packages/sandbox#verdict): a rule, and how often it was broken. ✓ means that nothing was wrong.

${line(['client', ...headings])}${line(['---', ...headings.map(() => '---')])}${rows.map((row) => line(row)).join('')}
- A token request takes 50 milliseconds, one in a hundred more than 200.
- Counts are those of one run, and vary with the machine. What happened once or twice may not happen in the next run.
- Tokens of 4 seconds are short: a client that renews minutes before expiry renews them at every call. With tokens of an hour
  it does not.
- Only Tokenlane has rate policies built in. The others need a second library for that, and a retry.
- The sandbox does not see a call that a client gave up before it reached the API: the outage costs clients more than
  this table shows. [The benchmarks](benchmarks.md) count these calls too.

${versions()}
`
}
