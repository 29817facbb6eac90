// Long: three processes under coverage.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

test('from a 401 until the call is sent again, no more functions of no more files run than did, each time the same', async () => {
  const program = fileURLToPath(new URL('functions-after-401.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program])
  const [first = [], ...others] = JSON.parse(stdout) as string[][]
  expect(others).toEqual([first, first])
  expect(first.length).toBeGreaterThan(80)
  expect(first.length).toBeLessThanOrEqual(88)
  expect(new Set(first.map((name) => name.split(' ')[0])).size).toBeLessThanOrEqual(25)
})
