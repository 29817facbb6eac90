// Everything that must hold before a change lands. Every check runs even if an earlier one failed; the tests
// come last, and their closing line counts the checks too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { installSystemPackages } from './system-packages.ts'

// two at a time, since each of them has stretches that use one core only; the longest first
const checks = ['pack-check', 'site', 'lint', 'types', 'dead-code', 'format:check']
const together = 2

/** Runs a script of package.json, and returns whether it worked, and what it printed where that is not shown at once. */
async function run(script, { stdio = 'pipe', env = process.env } = {}) {
  const child = spawn(`pnpm --silent run ${script}`, { shell: true, stdio: ['inherit', stdio, stdio], env })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (output += text))
  const [status] = await once(child, 'close')
  return { worked: status === 0, output }
}

// takes half a minute on a bare machine; the tests come after the checks anyway
const installation = installSystemPackages()
const waiting = [...checks]
let failed = 0
async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const { worked, output } = await run(check)
    console.log(`\n> pnpm ${check}\n${output}`)
    if (worked) continue
    failed += 1
    console.error(`${check}: failed`)
  }
}
await Promise.all(Array.from({ length: together }, work))
await installation
const passed = checks.length - failed
const tests = await run('unit', { stdio: 'inherit', env: { ...process.env, CHECKS: `${passed} ${failed}` } })
process.exitCode = tests.worked && failed === 0 ? 0 : 1
