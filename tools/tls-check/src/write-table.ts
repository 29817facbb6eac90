// Writes docs/tls.md: what becomes of calls to servers of each TLS version, by client and by version of Node, in
// processes that allow all of them. Takes each Node from npm, as a package.
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

const servers = await startTlsServers()
const probes: Probe[] = []
for (const version of nodes)
  probes.push(await runProbe(servers, { node: await nodeOf(version), flags: ['--tls-min-v1.0'] }))
await servers[Symbol.asyncDispose]()

for (const { node, rows } of probes)
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
  const names = [...new Set(probes.flatMap(({ rows }) => rows.map(({ client }) => client)))]
  const lines = names.flatMap((client) =>
    probes.map(({ node, rows }) => {
      const cells = tlsVersions.map((version) => cell(rows, client, version))
      return `| ${client} | ${node.slice(1)} | ${cells.join(' | ')} |`
    }),
  )
  return `# TLS versions

What becomes of calls with tokens to servers that speak one TLS version each, in processes that run with
\`--tls-min-v1.0\`. Without tokens, every call of this table works in the same processes at all four versions. A code is
that of the innermost cause; around it stands the client's own error.

| client | Node | ${tlsVersions.map((version) => version.replace(/^TLSv(\d)$/, 'TLSv$1.0').replace('TLSv', 'TLS ')).join(' | ')} |
| --- | --- | --- | --- | --- | --- |
${lines.join('\n')}

Written by \`pnpm tls-table\`.
`
}

function cell(rows: Probe['rows'], client: string, version: TlsVersion): string {
  const outcome = rows.find((row) => row.client === client && row.version === version)?.managed
  return outcome === 'works' ? 'works' : `refused: \`${outcome}\``
}
