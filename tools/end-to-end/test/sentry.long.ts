// Long: a process of its own, since Sentry instruments the whole one.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('sentry/calls.ts', import.meta.url))
const run = promisify(execFile)

test("Sentry's spans are one for each attempt, its trace goes along, and nothing that it sends has a token", async () => {
  const { stdout } = await run(process.execPath, [program])
  const seen = JSON.parse(stdout) as object
  expect(Object.keys(seen)).toEqual(['fetch', 'installed', 'axios', 'got', 'ky', 'undici'])
  const expected = { traces: [true, true], statuses: [401, 200], failures: 1, showsToken: false }
  for (const [client, outcome] of Object.entries(seen)) expect(outcome, client).toEqual(expected)
})
