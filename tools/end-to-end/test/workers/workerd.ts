import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import type { Sandbox } from '@tokenlane/sandbox'

import { bundled } from './bundle.ts'

/** The path of the binary; the package has no types. */
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string }

export interface WorkerdOptions {
  /** The module with the worker's handlers. */
  readonly worker: string
  readonly sandbox: Sandbox
  /** @defaultValue that of the newest worker */
  readonly compatibilityDate?: string
  /** Modules that the worker has in the place of others, as `bundled` takes them. */
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
  instead,
}: WorkerdOptions): Promise<Worker> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenlane-workerd-'))
  const files = {
    'worker.js': await bundled(worker, instead),
    'sandbox.json': JSON.stringify(surroundingsOf(sandbox)),
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

/** What a worker knows of the sandbox, which is in another process. */
export type Surroundings = Pick<
  Sandbox,
  'authUrl' | 'weblinkAuthUrl' | 'apiUrl' | 'weblinkUrl' | 'credentials'
>

export function surroundingsOf(sandbox: Sandbox): Surroundings {
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials } = sandbox
  return { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials }
}
