import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tablesOf } from '../../../bench/support/tables.ts'
import { root } from './blocks.ts'

test('the charts are what docs/measurements.md says; `pnpm --dir tools/docs write pictures` draws them', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const file = fileURLToPath(new URL('bench/support/charts.ts', root))
  execFile(process.execPath, [file, '--check'], (error, stdout, stderr) =>
    resolve(stdout + stderr + (error === null ? '' : error.message)),
  )
  expect(await promise).toBe('')
})

test.each(['peers', 'peers-narrow'])(
  '%s.svg has every figure of the two tables above it in README.md',
  (name) => {
    const picture = readFileSync(new URL(`docs/images/${name}.svg`, root), 'utf8')
    const [ways, queues] = tablesOf(readFileSync(new URL('README.md', root), 'utf8'), 'Compared')
    const rows = [ways, queues].flatMap((table) => table?.rows ?? [])
    expect(rows).toHaveLength(5)
    for (const [who, figure] of rows.flatMap((row) => Object.entries(row).slice(1)))
      expect(picture).toMatch(new RegExp(`who: ${who}[^<]*>${figure}</text>`))
  },
)
