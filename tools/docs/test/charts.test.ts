import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { root } from './blocks.ts'

test('the charts are what docs/measurements.md says; `pnpm --dir tools/docs write pictures` draws them', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const file = fileURLToPath(new URL('bench/support/charts.ts', root))
  execFile(process.execPath, [file, '--check'], (error, stdout, stderr) =>
    resolve(stdout + stderr + (error === null ? '' : error.message)),
  )
  expect(await promise).toBe('')
})
