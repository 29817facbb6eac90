// Builds every package, as it is published. With `--tarballs` also packs them into the folder `tarballs`, for applications
// outside of the workspace, and prints the line that installs them.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const node = (...args: readonly string[]): unknown =>
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' })

// `tsc -b --clean` leaves what came of sources that are gone
for (const name of readdirSync(join(root, 'packages')))
  rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true })
node('node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json')
node('scripts/bundle.mjs')
node('packages/sandbox/console/build.ts')

// Error messages point to the troubleshooting page: a user who has only the npm package can open it offline. Links to other
// pages become their text, since those are not in the package.
const page = readFileSync(join(root, 'docs/guide/troubleshoot.md'), 'utf8')
const links = /\[([^\]]+)\]\((?!https:|#)[^)]+\)/g
writeFileSync(join(root, 'packages/core/troubleshoot.md'), page.replaceAll(links, '$1'))

if (process.argv.includes('--tarballs')) node('tools/pack-check/src/tarballs.ts')
