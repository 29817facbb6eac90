// Writes generated pages and pictures: `pnpm --dir tools/docs write`, or some of them by name, as in `… write api quota`.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** What writes a page; each takes the time that it says. */
const writers: Readonly<Record<string, readonly string[]>> = {
  // each package's api.md; 15 s
  api: ['tools/pack-check/src/write-api.ts'],
  // the charts of a busy issuer beside their simulation; 3 s
  busy: ['packages/core/test/simulation/busy-issuer/write.ts'],
  // packages/conformance/results.md; 1 min
  conformance: ['tools/docs/src/conformance.ts'],
  // packages/otel/dashboards and the tables of its README; 1 s
  dashboards: ['packages/otel/dashboards/write.ts'],
  // docs/images; 15 s
  pictures: ['tools/docs/src/record-quickstart.ts'],
  // the table of docs/guide/rate-policy.md; 20 s
  quota: ['packages/core/test/simulation/write-table.ts'],
  // the table of all 401s beside their simulation; 1 min
  rejections: ['packages/core/test/simulation/rejections/write.ts'],
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in writers))
if (unknown.length > 0) {
  console.error(`No page is called ${unknown.join(', ')}. Pages: ${Object.keys(writers).join(', ')}`)
  process.exit(2)
}

const files = (asked.length > 0 ? asked : Object.keys(writers)).flatMap((name) => writers[name] ?? [])
for (const file of files) {
  console.log(`> ${file}`)
  const { status } = spawnSync(process.execPath, [file], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
spawnSync('pnpm', ['exec', 'oxfmt'], { cwd: root, stdio: 'ignore', shell: process.platform === 'win32' })
