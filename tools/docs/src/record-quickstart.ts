// Runs the quickstart and writes what it prints as docs/images/quickstart.svg; for phones, without its tables and bars.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { drawTerminal, foldLine, type PrintedLine } from './terminal.ts'

const main = fileURLToPath(new URL('../../../examples/quickstart/main.ts', import.meta.url))
const picture = new URL('../../../docs/images/quickstart.svg', import.meta.url)
const narrow = new URL('../../../docs/images/quickstart-narrow.svg', import.meta.url)

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

const isEvent = (text: string): boolean =>
  /^(?:\$|[ \d]\d\.\d s [^█░]+$)/.test(stripVTControlCharacters(text))
const columns = 42
const folded = [...lines.filter(({ text }) => isEvent(text)), ...lines.slice(-1)].flatMap(({ at, text }) =>
  foldLine(text, columns, isEvent(text) ? 7 : 0).map((part) => ({ at, text: part })),
)
writeFileSync(narrow, drawTerminal(folded, { columns, rows: 28, pause: 8_000, label }))
