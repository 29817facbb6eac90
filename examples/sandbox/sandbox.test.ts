import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const express = fileURLToPath(new URL('../express/main.ts', import.meta.url))

test('an example runs as it is, and ends in order at SIGTERM', { timeout: 60_000 }, async () => {
  const run = spawn(process.execPath, [main, process.execPath, express], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void run.kill('SIGKILL'))
  const [url] = (await once(createInterface(run.stdout), 'line')) as [string]

  const found = await fetch(new URL('/records/INV-0000001', url))
  expect(await found.json()).toMatchObject({ id: 'INV-0000001' })

  run.kill('SIGTERM')
  expect(await once(run, 'exit')).toEqual([0, null])
})

test.each([
  ['of the command', [process.execPath, '--eval', 'process.exit(3)'], 3],
  ['127 for a command that does not exist', ['no-such-command'], 127],
  ['2 without a command', [], 2],
])('the exit status is %s', { timeout: 60_000 }, (_, args, status) => {
  expect(spawnSync(process.execPath, [main, ...args]).status).toBe(status)
})
