import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import type { Diagnosis } from '../../src/doctor/doctor.ts'

export const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

// every process loads the same modules
const compiled = mkdtempSync(join(tmpdir(), 'compiled-'))
process.once('exit', () => rmSync(compiled, { recursive: true, force: true }))

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
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { status, stdout, stderr }
}

/** Runs `doctor --json` and returns what it found. */
export async function doctor(args: readonly string[], env: Variables): Promise<Ended & { found: Diagnosis }> {
  const ended = await tokenlane(['doctor', '--json', ...args], env)
  if (ended.stdout === '') throw new Error(`no diagnosis, status ${ended.status}: ${ended.stderr}`)
  return { ...ended, found: JSON.parse(ended.stdout) as Diagnosis }
}
