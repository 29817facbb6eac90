import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import type { Diagnosis } from '../../src/doctor/doctor.ts'

export const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

// every process loads the same modules
const compiled = process.env['NODE_COMPILE_CACHE'] ?? temporary()
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'compiled-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const common = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compiled }

export type Variables = Readonly<Record<string, string | undefined>>

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in a process with these variables alone. */
export async function tokenlane(args: readonly string[], env: Variables, cwd = '/'): Promise<Ended> {
  const child = spawn(process.execPath, ['--', main, ...args], {
    cwd,
    env: { ...common, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return endOf(child, child.stdout, child.stderr)
}

/**
 * Runs `doctor --json` and returns what it found. The process is the one that `tokenlane` starts for an application: that it
 * starts it is the subject of other tests, and takes as long as half of a diagnosis.
 */
export async function doctor(args: readonly string[], env: Variables): Promise<Ended & { found: Diagnosis }> {
  const ended = args.some((arg) => arg.startsWith('--env-file'))
    ? await tokenlane(['doctor', '--json', ...args], env)
    : await ownProcess(['doctor', '--json', ...args], env)
  if (ended.stdout === '') throw new Error(`no diagnosis, status ${ended.status}: ${ended.stderr}`)
  return { ...ended, found: JSON.parse(ended.stdout) as Diagnosis }
}

async function ownProcess(args: readonly string[], env: Variables): Promise<Ended> {
  const TOKENLANE_HANDED_OVER = JSON.stringify({ parent: 3, output: 4 })
  const child = spawn(process.execPath, [main, ...args], {
    cwd: '/',
    env: { ...common, ...env, TOKENLANE_HANDED_OVER },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  return endOf(child, child.stdio[4] as Readable, child.stderr as Readable)
}

async function endOf(child: ChildProcess, result: Readable, errors: Readable): Promise<Ended> {
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr, status] = await Promise.all([text(result), text(errors), ended])
  return { status, stdout, stderr }
}
