// `npm run release -- version` turns the changesets into versions and CHANGELOGs, `-- dry-run` shows what would be published,
// and `npm run release` publishes every version that npm does not have yet.
import { execSync } from 'node:child_process'

const steps: Readonly<Record<string, readonly string[]>> = {
  version: ['pnpm changeset version', 'pnpm install --lockfile-only'],
  'dry-run': ['node scripts/build.ts', 'pnpm --recursive publish --dry-run --no-git-checks'],
  publish: ['node scripts/build.ts', 'pnpm changeset publish'],
}

const [what = 'publish', ...more] = process.argv.slice(2)
const commands = steps[what]
if (commands === undefined || more.length > 0) {
  console.error(`usage: npm run release -- [${Object.keys(steps).join(' | ')}]`)
  process.exit(2)
}
for (const command of commands) execSync(command, { stdio: 'inherit' })
