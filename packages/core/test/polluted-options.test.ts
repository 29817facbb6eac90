import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

/** The interfaces of the public surface that are options, given by an application or an adapter. */
const ofOptions =
  /^export interface (?:\w*Options\w*|\w*Settings|RatePolicy|(?:Rate)?Limit|RateLimitHeaders|AuthUrl|\w+Credentials)\b[\s\S]*?^}/gm
/** Read by Node wherever code leaves them out: on every object they break `fetch` itself. */
const ofNode = ['signal', 'method', 'headers', 'body', 'status']

/** The names by which the sources tell the members of a union apart. */
function namesOfUnions(): string[] {
  const folder = new URL('../src/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const sources = files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n')
  return [...sources.matchAll(/\bhas\(\w+, '(\w+)'\)/g)].map(([, name]) => name ?? '')
}

test('no option is read that other code has put on every object', { timeout: 60_000 }, async () => {
  const surface = readFileSync(new URL('../api.md', import.meta.url), 'utf8')
  const options = (surface.match(ofOptions) ?? []).join('\n')
  const names = new Set([...options.matchAll(/^ +(?:readonly )?(\w+)\??:/gm)].map(([, name]) => name ?? ''))
  for (const name of ofNode) names.delete(name)
  for (const name of namesOfUnions()) names.add(name)
  expect(names.size).toBeGreaterThan(50)
  const program = fileURLToPath(new URL('polluted-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program, ...names])
  expect(JSON.parse(stdout)).toEqual([])
})
