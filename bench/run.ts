// Runs every bench file of this folder in turn, each in a process of its own: `pnpm bench [--quick] [--write] [name …]`.
// A whole run, or one with `--write`, replaces `docs/measurements.md` and `docs/benchmarks.md`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

import { writePage } from './support/page.ts'

const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('--'))
const options = args.filter((arg) => arg.startsWith('--'))
const benches = globSync('*.ts', { cwd: import.meta.dirname })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'run' && (names.length === 0 || names.includes(name)))
  .toSorted()

const outputs = new Map<string, string>()
const durations: Record<string, number> = {}
for (const name of benches) {
  const start = performance.now()
  outputs.set(name, await run(name))
  durations[name] = Math.round((performance.now() - start) / 1_000)
}
const sum = Object.values(durations).reduce((total, each) => total + each, 0)
console.error('\nSeconds:', { ...durations, sum })

const isWhole = names.length === 0 && !options.includes('--quick')
if ((isWhole || options.includes('--write')) && process.exitCode === undefined) {
  writePage(outputs, args)
  // draws what the page says now
  await import('./support/charts.ts')
}

/** What a bench prints, here and in the page. */
async function run(name: string): Promise<string> {
  const file = join(import.meta.dirname, `${name}.ts`)
  const child = spawn(process.execPath, ['--expose-gc', file, ...options], {
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    process.stdout.write(chunk)
  })
  const [status] = await once(child, 'close')
  if (status !== 0) process.exitCode = 1
  return text
}
