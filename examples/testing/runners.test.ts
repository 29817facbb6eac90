import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))
const jest = fileURLToPath(import.meta.resolve('jest/bin/jest'))

/** Runs Node here, and returns its exit status and what it printed. */
function node(...args: readonly string[]): Promise<{ status: unknown; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ status: unknown; output: string }>()
  // a runner that finds itself within another one reports to it
  const { NODE_TEST_CONTEXT: _, VITEST: __, ...env } = process.env
  execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
    resolve({ status: error?.code ?? 0, output: stdout + stderr }),
  )
  return promise
}

test('Jest runs the same tests, with its flag for ES modules', { timeout: 60_000 }, async () => {
  const { status, output } = await node('--experimental-vm-modules', jest)
  expect(output).toContain('Tests:       4 passed, 4 total')
  expect(status).toBe(0)
})

test('without the flag Jest refuses ES modules, and says so', { timeout: 60_000 }, async () => {
  const { status, output } = await node(jest)
  expect(output).toContain('Must use import to load ES Module')
  expect(status).toBe(1)
})

test('the runner of Node runs the same tests', { timeout: 60_000 }, async () => {
  const { status, output } = await node('--test', '--test-reporter=tap', 'records.node.ts')
  expect(output).toContain('# pass 4')
  expect(status).toBe(0)
})
