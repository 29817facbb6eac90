import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

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

test('Jest runs the same tests, with its flag for ES modules', async () => {
  const { status, output } = await node('--experimental-vm-modules', jest)
  expect(output).toContain('Tests:       4 passed, 4 total')
  expect(status).toBe(0)
})

test('without the flag Jest refuses ES modules, and says so', async () => {
  const { status, output } = await node(jest)
  expect(output).toContain('Must use import to load ES Module')
  expect(status).toBe(1)
})

test.each(['--maxWorkers=2', '--runInBand'])(
  'the tests of Jest reach a sandbox of its globalSetup with %s',
  async (way) => {
    // without one that says that the files are fast: Jest would then start no workers
    const cache = mkdtempSync(join(tmpdir(), 'jest-'))
    onTestFinished(() => rmSync(cache, { recursive: true }))
    const flags = ['--config=sandbox/jest.config.js', `--cacheDirectory=${cache}`, way]
    const { status, output } = await node('--experimental-vm-modules', jest, ...flags)
    expect(output).toContain('Tests:       2 passed, 2 total')
    expect(status).toBe(0)
  },
)

test('the runner of Node runs the same tests', async () => {
  const { status, output } = await node('--test', '--test-reporter=tap', 'records.node.ts')
  expect(output).toContain('# pass 4')
  expect(status).toBe(0)
})
