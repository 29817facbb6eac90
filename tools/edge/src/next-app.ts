import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Sandbox } from '@tokenlane/sandbox'

import { suiteForNext } from './suite/suite.ts'

export const nextVersion = '16.4.6'
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The example for Next.js, with further routes, built with Next.js from npm and the packages as they are published. */
export interface NextApp extends Disposable {
  readonly folder: string
  serve(mode: 'start' | 'dev'): Promise<NextServer>
}

interface NextServer extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly origin: string
}

export async function buildNextApp({ authUrl, apiUrl, credentials, ca }: Sandbox): Promise<NextApp> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenlane-next-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  for (const part of ['app', 'lib', 'instrumentation.ts'])
    cpSync(join(root, 'examples', 'nextjs', part), join(folder, part), { recursive: true })
  cpSync(join(root, 'tools', 'edge', 'next'), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  writeFileSync(join(folder, 'suite.js'), await suiteForNext())
  writeFileSync(join(folder, 'ca.pem'), ca)
  await install(folder)

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
  await run(process.execPath, [next, 'build'], { cwd: folder, env })
  return {
    folder,
    async serve(mode) {
      const port = await freePort()
      const child = spawn(process.execPath, [next, mode, '--port', String(port)], { cwd: folder, env })
      await ready(child)
      return {
        origin: `http://127.0.0.1:${port}`,
        async [Symbol.asyncDispose]() {
          const ended = once(child, 'exit')
          child.kill()
          await ended
        },
      }
    },
    [Symbol.dispose]: remove,
  }
}

async function install(folder: string): Promise<void> {
  await run(process.execPath, ['scripts/build.ts'], { cwd: root })
  for (const name of ['core', 'fetch'])
    await run('pnpm', ['pack', '--pack-destination', folder], { cwd: join(root, 'packages', name) })
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const others = [
    `next@${nextVersion}`,
    'react',
    'react-dom',
    'typescript@5.9.3',
    '@types/node@22',
    '@types/react',
  ]
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund']
  const packed = tarballs.map((name) => `./${name}`)
  await run('npm', ['install', ...quietly, ...packed, ...others], { cwd: folder })
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
  { cwd, env = process.env }: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text))
  const [status] = (await once(child, 'close')) as [number | null]
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${errors}`)
}
