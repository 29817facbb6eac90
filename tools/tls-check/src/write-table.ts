// Writes docs/tls.md: what becomes of calls to servers of each TLS version, by client and by version of Node, and in
// processes that allow TLS 1.0. Takes each Node from npm, as a package.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { Probe } from './probe.ts'
import { runProbe } from './run-probe.ts'
import { startTlsServers, type TlsVersion, tlsVersions } from './tls-servers.ts'

const nodes = ['22.23.3', '24.21.0', '26.10.0']
const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
const page = join(docs, 'tls.md')

/** The columns of the table, each with the versions whose outcome is the same. */
const columns = new Map<string, readonly TlsVersion[]>([
  ['TLS 1.0 or 1.1', ['TLSv1', 'TLSv1.1']],
  ['TLS 1.2', ['TLSv1.2']],
  ['TLS 1.3', ['TLSv1.3']],
])

interface Probes {
  /** Of a process as Node starts it. */
  readonly usual: Probe
  /** Of processes that allow TLS 1.0, by a flag and later. */
  readonly lax: readonly Probe[]
}

const servers = await startTlsServers()
const probes: Probes[] = []
for (const version of nodes) {
  const node = await nodeOf(version)
  probes.push({
    usual: await runProbe(servers, { node }),
    lax: [
      await runProbe(servers, { node, flags: ['--tls-min-v1.0'] }),
      await runProbe(servers, { node, assign: 'TLSv1' }),
    ],
  })
}
await servers[Symbol.asyncDispose]()

for (const { node, rows } of probes.flatMap(({ lax }) => lax))
  for (const { client, version, bare } of rows)
    if (bare !== 'works') throw new Error(`The bare ${client} on ${node} with ${version}: ${bare}`)

mkdirSync(docs, { recursive: true })
writeFileSync(page, text())
execFileSync('oxfmt', [page])

/** The path of a Node that is taken from npm. */
async function nodeOf(version: string): Promise<string> {
  const name = process.platform === 'linux' ? `node-linux-${process.arch}` : 'node'
  const { stdout } = await promisify(execFile)(
    'npm',
    ['exec', '--yes', `--package=${name}@${version}`, '--call=node -p process.execPath'],
    { shell: process.platform === 'win32' },
  )
  return stdout.trim()
}

function text(): string {
  const names = [...new Set(probes.flatMap(({ usual }) => usual.rows.map(({ client }) => client)))]
  return `# TLS versions

This table shows what happens when a call with a token goes to a server that supports only one TLS version, on Node
${new Intl.ListFormat('en-GB').format(nodes)}. A code means that the call was refused. The code is the \`code\` of the innermost cause in
the client's own error. undici is not in the table, because \`@tokenlane/undici\` checks the version of each connection
itself and refuses anything below TLS 1.2.

| client | ${[...columns.keys()].join(' | ')} | a process that allows TLS 1.0 |
| --- | --- | --- | --- | --- |
${names.map((client) => `| ${client} | ${cells(client).join(' | ')} |`).join('\n')}

The last column is for a process that runs with \`--tls-min-v1.0\` or lowers \`tls.DEFAULT_MIN_VERSION\` after a token
manager was created. Such a process sends no tokens, whatever version the server supports. Without a token, every
client in this table can call servers of all four versions from such a process.

## What is refused and what to do

| setting | when | what to do |
| --- | --- | --- |
| \`tls.DEFAULT_MIN_VERSION\` below TLS 1.2, or \`--tls-min-v1.0\` | \`createTokenManager\` or, if set later, every request | Remove it. |
| \`minVersion\`, \`maxVersion\` or \`secureProtocol\` on an agent or client | the call, before a token is requested | Remove it, or set \`minVersion: 'TLSv1.2'\`. |
| the same in \`https.globalAgent\` | the call that would use it | The same. |

All of these fail with \`INSECURE_TRANSPORT\`, and the message names the setting. If another server needs an older version,
use a separate agent for that server. [Security](../SECURITY.md#tls) lists what Tokenlane cannot check.

Written by \`pnpm --dir tools/docs write tls\`.
`
}

/** One cell for each column, and one for the processes that allow TLS 1.0. */
function cells(client: string): string[] {
  const found = (probe: Probe, version: TlsVersion): string | undefined =>
    probe.rows.find((row) => row.client === client && row.version === version)?.managed
  const usual = Array.from(columns.values(), (versions) =>
    versions.flatMap((version) => probes.map((probe) => found(probe.usual, version))),
  )
  const lax = probes.flatMap((probe) =>
    probe.lax.flatMap((one) => tlsVersions.map((version) => found(one, version))),
  )
  return [...usual, lax].map((outcomes) => {
    const [first, ...others] = new Set(outcomes)
    if (others.length > 0) throw new Error(`${client} differs: ${outcomes.join(', ')}`)
    return first === 'works' ? 'works' : `\`${first}\``
  })
}
