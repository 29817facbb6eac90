// Everything that must hold before a change lands. Every check runs even if an earlier one failed; the tests
// come last, and their closing line counts the checks too.
import { spawnSync } from 'node:child_process'

import { installChromium } from './chromium.mjs'

const checks = {
  lint: 'oxlint --deny-warnings',
  format: 'oxfmt --check',
  types: 'tsc',
  'dead code': 'knip',
  packages: 'node tools/pack-check/src/check.ts',
  Redis: 'node scripts/redis.ts',
  site: 'node site/build.ts',
}

const shell = (command, env = process.env) =>
  spawnSync(command, { shell: true, stdio: 'inherit', env }).status

// takes half a minute where there is none, which the checks need too
const chromium = installChromium()
let failed = 0
for (const [name, command] of Object.entries(checks)) {
  console.log(`\n> ${name}: ${command}`)
  if (shell(command) === 0) continue
  failed += 1
  console.error(`${name}: failed`)
}
await chromium
const passed = Object.keys(checks).length - failed
const status = shell('pnpm run unit', { ...process.env, CHECKS: `${passed} ${failed}` })
process.exitCode = status === 0 && failed === 0 ? 0 : 1
