// Builds the example for Next.js with Next.js from npm and the packages as they are published, and makes its calls:
// `pnpm --dir tools/end-to-end next`. Needs npm's registry.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'
import { freePort } from '@tokenlane/testing/free-port'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const packages = ['next@16.4.6', 'react', 'react-dom', 'typescript@5.9.3', '@types/node@22', '@types/react']

await using sandbox = await startSandbox({ records: 30 })
const { control, authUrl, apiUrl, credentials, ca } = sandbox
const folder = mkdtempSync(join(tmpdir(), 'tokenlane-next-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const part of ['app', 'lib', 'instrumentation.ts'])
  cpSync(join(root, 'examples', 'nextjs', part), join(folder, part), { recursive: true })
cpSync(join(root, 'tools', 'end-to-end', 'next', 'app'), join(folder, 'app'), { recursive: true })
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
// the types are checked in the repository
writeFileSync(join(folder, 'next.config.mjs'), 'export default { typescript: { ignoreBuildErrors: true } }\n')
writeFileSync(join(folder, 'ca.pem'), ca)
await run(process.execPath, ['scripts/build.ts'], root)
for (const name of ['core', 'fetch'])
  await run('pnpm', ['pack', '--pack-destination', folder], join(root, 'packages', name))
const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
await run('npm', [
  'install',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  ...tarballs.map((name) => `./${name}`),
  ...packages,
])

const { NODE_ENV: _, ...environment } = process.env
const env = {
  ...environment,
  AUTH_URL: authUrl,
  API_URL: apiUrl,
  GENERAL_CLIENT_ID: credentials.general.clientId,
  GENERAL_CLIENT_SECRET: credentials.general.clientSecret,
  // of the server only; npm has its own certificate authorities
  NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  NEXT_TELEMETRY_DISABLED: '1',
}
const next = join(folder, 'node_modules', 'next', 'dist', 'bin', 'next')
await run(process.execPath, [next, 'build'], folder, env)

control.resetCounts()
await served('start', async (must) => {
  for (const path of ['/records', '/records', '/forced', '/forced', '/revalidated']) await must(path)
  says('a server requests one token when it starts, for all of its routes', 1)
  await Promise.all(Array.from({ length: 20 }, () => must('/edge')))
  says('20 first calls of the edge runtime request one more', 2)
  for (const renewals of [1, 2]) {
    control.revokeTokens('general')
    await must('/forced')
    says(`a route that caches every fetch gets a new token, ${renewals} of 2`, 2 + renewals)
  }
  control.revokeTokens('general')
  await must('/edge')
  says('a revoked token is renewed in the edge runtime', 5)
})

control.resetCounts()
await served('dev', async (must) => {
  await must('/records')
  for (const change of [1, 2]) {
    appendFileSync(join(folder, 'lib', 'api.ts'), `\nexport const change${change} = ${change}\n`)
    appendFileSync(join(folder, 'app', 'records', 'route.ts'), `\n// change ${change}\n`)
    await must('/records')
  }
  says('a development server that loads its modules again keeps its manager', 1)
})

async function served(
  mode: 'start' | 'dev',
  calls: (must: (path: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const port = await freePort()
  const server = spawn(process.execPath, [next, mode, '--port', String(port)], { cwd: folder, env })
  const ended = once(server, 'exit')
  try {
    await new Promise<void>((resolve, reject) => {
      server.stdout.on('data', (text) => String(text).includes('Ready in') && resolve())
      server.once('exit', () => reject(new Error('Next.js ended before it was ready')))
    })
    await calls(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      assert.equal(response.status, 200, `${path}: ${await response.text()}`)
    })
  } finally {
    server.kill()
    await ended
  }
}

function says(what: string, tokenRequests: number): void {
  assert.equal(control.counts().issuers.general.requests, tokenRequests, what)
  console.log(`${what}: holds`)
}

/** The sandbox is in this process, and answers meanwhile. */
async function run(command: string, args: readonly string[], cwd = folder, own = process.env): Promise<void> {
  const child = spawn(command, args, { cwd, env: own, stdio: ['ignore', 'ignore', 'inherit'] })
  const [status] = (await once(child, 'exit')) as [number | null]
  assert.equal(status, 0, `${command} ${args.join(' ')}`)
}
