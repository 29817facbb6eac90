// Builds the example for Next.js with Next.js from npm, and makes its calls: `pnpm next-check`. Needs npm's registry.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'

const version = '16.4.6'
const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tokenlane-next-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

for (const part of ['app', 'lib', 'instrumentation.ts'])
  cpSync(join(root, 'examples', 'nextjs', part), join(folder, part), { recursive: true })
cpSync(join(root, 'tools', 'edge', 'next'), folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')

await using sandbox = await startSandbox({ records: 30 })
writeFileSync(join(folder, 'ca.pem'), sandbox.ca)
const { authUrl, apiUrl, credentials, control } = sandbox
/** Of the server; npm has its own certificate authorities. */
const { NODE_ENV: _, ...environment } = process.env
const env = {
  ...environment,
  AUTH_URL: authUrl,
  API_URL: apiUrl,
  GENERAL_CLIENT_ID: credentials.general.clientId,
  GENERAL_CLIENT_SECRET: credentials.general.clientSecret,
  NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  NEXT_TELEMETRY_DISABLED: '1',
}

await install()
const next = join(folder, 'node_modules', 'next', 'dist', 'bin', 'next')
await run(process.execPath, [next, 'build'], { env })
control.resetCounts()
await inProduction()
control.resetCounts()
await inDevelopment()

/** The packages as they are published, and Next.js. */
async function install(): Promise<void> {
  await run('pnpm', ['run', 'build'], { cwd: root })
  for (const name of ['core', 'fetch'])
    await run('pnpm', ['pack', '--pack-destination', folder], {
      cwd: join(root, 'packages', name),
    })
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const others = [
    `next@${version}`,
    'react',
    'react-dom',
    'typescript@5.9.3',
    '@types/node@22',
    '@types/react',
  ]
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...quietly, ...tarballs.map((name) => `./${name}`), ...others])
}

async function inProduction(): Promise<void> {
  await using server = await serve('start')
  for (const path of ['/records', '/records', '/forced', '/forced', '/revalidated']) await server.must(path)
  says('a server requests one token when it starts, for all of its routes', 1)

  await Promise.all(Array.from({ length: 20 }, () => server.must('/edge')))
  says('20 first calls of the edge runtime request one more', 2)

  for (const renewals of [1, 2]) {
    control.revokeTokens('general')
    await server.must('/forced')
    says(`a route that caches every fetch gets a new token, ${renewals} of 2`, 2 + renewals)
  }
  control.revokeTokens('general')
  await server.must('/edge')
  says('a revoked token is renewed in the edge runtime', 5)
}

async function inDevelopment(): Promise<void> {
  await using server = await serve('dev')
  await server.must('/records')
  for (const change of [1, 2]) {
    appendFileSync(join(folder, 'lib', 'api.ts'), `\nexport const change${change} = ${change}\n`)
    appendFileSync(join(folder, 'app', 'records', 'route.ts'), `\n// change ${change}\n`)
    await server.must('/records')
  }
  says('a development server that loads its modules again keeps its manager', 1)
}

function says(what: string, tokenRequests: number): void {
  assert.equal(control.counts().issuers.general.requests, tokenRequests, what)
  console.log(`${what}: holds`)
}

async function serve(
  mode: 'start' | 'dev',
): Promise<AsyncDisposable & { must(path: string): Promise<void> }> {
  const port = await freePort()
  const child = spawn(process.execPath, [next, mode, '--port', String(port)], { cwd: folder, env })
  await ready(child)
  return {
    async must(path) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      assert.equal(response.status, 200, `${path}: ${await response.text()}`)
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

async function ready(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (text) => String(text).includes('Ready in') && resolve())
    child.once('exit', () => reject(new Error('Next.js ended before it was ready')))
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function run(
  command: string,
  args: readonly string[],
  { cwd = folder, env: its = process.env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const child = spawn(command, args, { cwd, env: its, stdio: ['ignore', 'ignore', 'inherit'] })
  const [status] = (await once(child, 'exit')) as [number | null]
  assert.equal(status, 0, `${command} ${args.join(' ')}`)
}
