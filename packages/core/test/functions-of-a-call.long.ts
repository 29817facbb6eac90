// Long: nine calls under coverage.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

test('no more functions of no more files run than did, each time the same', async () => {
  const program = fileURLToPath(new URL('functions-of-a-call.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program])
  const runs = JSON.parse(stdout) as Record<string, [string[], ...string[][]]>
  for (const [first, ...others] of Object.values(runs)) expect(others).toEqual([first, first])
  // from a 401 until the call is sent again; for a policy, in a call that waits for nothing; in the report of a 429
  const most = { after401: [88, 25], ofPolicy: [53, 15], after429: [53, 16] } as const
  for (const [name, [functions, files]] of Object.entries(most)) {
    const seen = runs[name]?.[0] ?? []
    // far fewer would mean that the coverage has missed some
    expect(seen.length, name).toBeGreaterThan(0.8 * functions)
    expect(seen.length, name).toBeLessThanOrEqual(functions)
    expect(new Set(seen.map((each) => each.split(' ')[0])).size, name).toBeLessThanOrEqual(files)
  }
})
