// Everything that must hold before a change lands. Every check runs even if an earlier one failed; the tests
// come last, and their closing line counts the checks too.
import { spawnSync } from 'node:child_process'

import { installSystemPackages } from './system-packages.ts'

const checks = ['lint', 'format:check', 'types', 'dead-code', 'pack-check', 'site']

const run = (script, env = process.env) =>
  spawnSync(`pnpm --silent run ${script}`, { shell: true, stdio: 'inherit', env }).status

// takes half a minute on a bare machine; the tests come after the checks anyway
const installation = installSystemPackages()
let failed = 0
for (const check of checks) {
  console.log(`\n> pnpm ${check}`)
  if (run(check) === 0) continue
  failed += 1
  console.error(`${check}: failed`)
}
await installation
const passed = checks.length - failed
const status = run('unit', { ...process.env, CHECKS: `${passed} ${failed}` })
process.exitCode = status === 0 && failed === 0 ? 0 : 1
