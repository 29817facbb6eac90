import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Sandbox } from '@tokenlane/sandbox'
import { onTestFinished } from 'vitest'

import { environmentOf } from './example-service.ts'

/** Runs the program of an example, which calls the sandbox's general API; it ends with the test at the latest. */
export function runProgram(
  main: URL,
  sandbox: Sandbox,
  args: readonly string[] = [],
): ChildProcessByStdio<null, Readable, Readable> {
  const folder = mkdtempSync(join(tmpdir(), 'example-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, sandbox.ca)
  const program = spawn(process.execPath, [fileURLToPath(main), ...args], {
    env: {
      ...process.env,
      PORT: '0',
      ...environmentOf(sandbox),
      NODE_EXTRA_CA_CERTS: caFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    program.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  return program
}
