// Long: needs Python.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('drive.py', import.meta.url))
const command = fileURLToPath(new URL('../src/command/main.ts', import.meta.url))

test('Python’s standard library drives the whole sandbox over HTTP', async () => {
  const args = [program, process.execPath, command, '--json', '--port', '18420']
  const { stdout } = await promisify(execFile)('python3', args, { timeout: 50_000 })
  expect(stdout).toBe('driven\n')
})
