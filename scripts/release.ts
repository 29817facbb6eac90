// `npm run release -- version` turns the changesets into versions and CHANGELOGs. `-- pack` makes what a release consists of,
// `-- dry-run` shows what would be staged, and `-- compare` compares with what npm has. The workflows do the rest.
import { execSync } from 'node:child_process'

const release = 'node tools/pack-check/src/release.ts'
const steps: Readonly<Record<string, readonly string[]>> = {
  version: ['pnpm changeset version', 'pnpm install --lockfile-only'],
  pack: ['node scripts/build.ts', release],
  'dry-run': ['node scripts/build.ts', `${release} --dry-run`],
  compare: ['node scripts/build.ts', `${release} --compare`],
}

const [what = '', ...more] = process.argv.slice(2)
const commands = steps[what]
if (commands === undefined || more.length > 0) {
  console.error(`usage: npm run release -- [${Object.keys(steps).join(' | ')}]`)
  process.exit(2)
}
for (const command of commands) execSync(command, { stdio: 'inherit' })
