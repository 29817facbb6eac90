import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import type { Sandbox } from '@tokenlane/sandbox'
import { rolldown } from 'rolldown'

/** The path of the binary; the package has no types. */
const { default: workerd, version } = createRequire(import.meta.url)('workerd') as {
  default: string
  version: string
}

export const workerdVersion: string = version

/** What a worker finds in its environment as `SANDBOX`. */
export type Surroundings = Pick<
  Sandbox,
  'authUrl' | 'weblinkAuthUrl' | 'apiUrl' | 'weblinkUrl' | 'credentials'
>

export interface WorkerdOptions {
  /** The module with the worker's handlers. */
  readonly worker: string
  readonly sandbox: Sandbox
  /** @defaultValue that of the newest worker */
  readonly compatibilityDate?: string
  readonly bundle?: BundleOptions
}

interface BundleOptions {
  /** A folder in which the packages are installed. By default those of the workspace are taken. */
  readonly packagesOf?: string | undefined
  /** Modules to put in the place of others: from the end of a path to a path. */
  readonly instead?: Readonly<Record<string, string>>
}

/** A worker in a process of its own. */
export interface Worker extends AsyncDisposable {
  /** Where it takes requests, without a slash at its end. */
  readonly origin: string
}

/**
 * Starts a worker that reaches the servers of this machine and no others, and trusts the sandbox's certificates and no
 * others.
 */
export async function startWorkerd({
  worker,
  sandbox,
  compatibilityDate = '2026-11-17',
  bundle = {},
}: WorkerdOptions): Promise<Worker> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenlane-workerd-'))
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials } = sandbox
  const surroundings: Surroundings = { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials }
  const files = {
    'worker.js': await bundled(worker, bundle),
    'sandbox.json': JSON.stringify(surroundings),
    'ca.pem': sandbox.ca,
    'config.capnp': configuration(compatibilityDate),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const child = spawn(workerd, ['serve', join(folder, 'config.capnp'), '--control-fd=3'], {
    // what it writes of requests that end early is expected
    stdio: ['ignore', 'inherit', process.env['WORKERD_LOG'] ? 'inherit' : 'ignore', 'pipe'],
  })
  return {
    origin: `http://127.0.0.1:${await portOf(child)}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

/** One file, as those who deploy a worker make it. */
async function bundled(worker: string, { packagesOf, instead = {} }: BundleOptions): Promise<string> {
  const bundle = await rolldown({
    input: worker,
    platform: 'neutral',
    external: /^(?:node|cloudflare):/,
    resolve: { mainFields: ['module', 'main'], conditionNames: ['workerd', 'import'] },
    plugins: [
      {
        name: 'tokenlane',
        resolveId(source) {
          const [, other] = Object.entries(instead).find(([end]) => source.endsWith(end)) ?? []
          if (other !== undefined) return other
          if (packagesOf === undefined || !source.startsWith('@tokenlane/')) return undefined
          return this.resolve(source, join(packagesOf, 'index.js'))
        },
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return output[0].code
}

function configuration(compatibilityDate: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "${compatibilityDate}",
      bindings = [(name = "SANDBOX", json = embed "sandbox.json")],
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (
      allow = ["private"],
      tlsOptions = (trustedCertificates = [embed "ca.pem"]),
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}

/** workerd says on its control descriptor which port it was given. */
async function portOf(child: ChildProcess): Promise<number> {
  const control = child.stdio[3] as Readable
  for await (const line of control.setEncoding('utf8')) {
    const { port } = JSON.parse(String(line)) as { port?: number }
    if (port !== undefined) return port
  }
  throw new Error('workerd ended before it listened')
}
