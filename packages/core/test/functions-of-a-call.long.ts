// Long: nine calls under coverage.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

test('no more functions run than there were, each time the same', async () => {
  const program = fileURLToPath(new URL('functions-of-a-call.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program])
  const runs = JSON.parse(stdout) as Record<string, [string[], ...string[][]]>
  for (const [first, ...others] of Object.values(runs)) expect(others).toEqual([first, first])
  const { after401, ofPolicy, after429 } = runs
  // what each needs at least: a count below it has missed something
  expect(after401?.[0].length).toBeGreaterThan(80)
  expect(after401?.[0].length, 'from a 401 until the call is sent again').toBeLessThanOrEqual(94)
  expect(ofPolicy?.[0].length).toBeGreaterThan(30)
  expect(ofPolicy?.[0].length, 'for a rate policy, in a call that waits for nothing').toBeLessThanOrEqual(53)
  expect(after429?.[0].length).toBeGreaterThan(30)
  expect(after429?.[0].length, 'in the report of a 429').toBeLessThanOrEqual(54)
})
