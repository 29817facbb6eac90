// Runs the quickstart and writes what it prints as docs/images/quickstart.svg.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { drawTerminal, type PrintedLine } from '@tokenlane/charts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const picture = new URL('../../docs/images/quickstart.svg', import.meta.url)

const start = performance.now()
const lines: PrintedLine[] = [{ at: 0, text: '$ npm start' }]
const run = spawn(process.execPath, [main], {
  env: { ...process.env, FORCE_COLOR: '1' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(run, 'exit')
for await (const text of createInterface({ input: run.stdout }))
  lines.push({ at: Math.round(performance.now() - start), text })
const [status] = await ended
if (status !== 0) throw new Error(`the run ended with status ${status}: it is not recorded`)

const label =
  'A recording of npm start: 303 calls through four clients, a revocation, a rotation and an outage'
writeFileSync(picture, drawTerminal(lines, { columns: 80, rows: 28, pause: 8_000, label }))
