// `npm test`: what must hold before a change lands. `npm run test:all`: everything. Every check runs even if an earlier one
// failed, then the tests, and the last line counts both. With parts of paths, as in `npm test router`, the tests of those
// files run, and no checks.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

import { checkConformance } from '../tools/docs/src/conformance-check.ts'
import { installSystemPackages, leftOut } from './system-packages.ts'

const paths = process.argv.slice(2).filter((argument) => argument !== '--all')
if (process.argv.includes('--all')) process.env['TESTS'] = 'all'
const all = process.env['TESTS'] === 'all'
// checks and tests start hundreds of processes that load the same modules
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('../node_modules/.cache/compiled', import.meta.url),
)

const checks = {
  ...(all && {
    packages: 'pnpm --silent --dir tools/pack-check check',
    site: 'pnpm --silent --dir site build',
  }),
  lint: 'pnpm --silent lint',
  types: 'pnpm --silent types',
  format: 'pnpm --silent format --check',
}
const count = { passed: 0, failed: 0 }

/** Runs a check, and prints what became of it. */
async function run(name: string, command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ['inherit', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const start = performance.now()
  const [status] = (await once(child, 'close')) as [number | null]
  const seconds = ((performance.now() - start) / 1_000).toFixed(1)
  count[status === 0 ? 'passed' : 'failed'] += 1
  if (status === 0) console.log(`${name} passed (${seconds} s)`)
  else console.log(`${name} failed:\n${output}`)
}

/** Two at a time, since each of them has stretches that use one core only. */
async function runChecks(): Promise<void> {
  const waiting = Object.entries(checks)
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) await run(...check)
  }
  await Promise.all([work(), work()])
}

async function runTests(): Promise<void> {
  const { startVitest } = await import('vitest/node')
  // Two workers more than cores: many tests wait, for processes, servers and rate policies, and leave their core to others.
  const { state } = await startVitest(paths, { run: true, maxWorkers: availableParallelism() + 2 })
  const modules = state.getTestModules()
  count.failed += state.getUnhandledErrors().length
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state: end } = test.result()
      if (end !== 'skipped') count[end === 'passed' ? 'passed' : 'failed'] += 1
    }
    // a file or a hook that fails outside of any test
    count.failed += module.errors().length
    for (const suite of module.children.allSuites()) count.failed += suite.errors().length
  }
  // no file at all
  if (modules.length === 0) count.failed += 1
  const table = checkConformance(modules, { update: false })
  if (table === 'current') count.passed += 1
  if (table !== 'outdated') return
  count.failed += 1
  console.error(
    'packages/conformance/results.md is not what this run found; `pnpm --dir tools/docs write conformance` writes it',
  )
}

// takes half a minute on a bare machine; the tests come after the checks anyway
const installation = installSystemPackages()
if (paths.length === 0) await runChecks()
await installation
await runTests()
const missing = leftOut().map(({ debianPackage }) => debianPackage)
if (missing.length > 0)
  console.log(`Left out, by TOKENLANE_NO_SYSTEM_PACKAGES: the tests that need ${missing.join(', ')}`)
if (count.failed > 0) process.exitCode = 1
console.log(`SEED=${process.env['SEED']} draws the same random cases again`)
// at exit, so that nothing comes after it
process.once('exit', () => process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`))
