// Packs every public package and uses the tarballs as a stranger would: outside of the workspace, from ESM and CommonJS,
// at run time and for types. Needs no network. With a folder: the tarballs that are there.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { contentFaults } from './contents.ts'
import { makeProject } from './project.ts'
import { must } from './run.ts'
import { sizes } from './sizes.ts'
import { surfaceOf } from './surface.ts'
import { typeChecks } from './type-checks.ts'

const here = fileURLToPath(new URL('..', import.meta.url))

using project = await makeProject(process.argv[2])
const { folder, packages } = project
const node = (what: string, ...args: string[]) => must(what, process.execPath, args, { cwd: folder })
const tool = (what: string, ...args: string[]) => must(what, 'pnpm', ['exec', ...args], { cwd: here })
const entries = packages.flatMap((item) => item.entries)

const checks = [
  () => node('import by Node', 'entries.mjs', 'import', ...entries),
  () => node('require() by Node', 'entries.mjs', 'require', ...entries),
  () => node('the page that an error points to', 'pointer.mjs'),
  () => node('calls from ESM', 'with-sandbox.mjs', process.execPath, 'calls.mjs', 'import'),
  () => node('calls from CommonJS', 'with-sandbox.mjs', process.execPath, 'calls.mjs', 'require'),
  ...typeChecks(project),
  ...packages.flatMap((item) => [
    () => mustBeEmpty(contentFaults(item)),
    () => mustBeEmpty(surfaceIs(item)),
    () => tool(`publint of ${item.name}`, 'publint', '--strict', item.tarball),
    () => tool(`attw of ${item.name}`, 'attw', '--profile', 'esm-only', item.tarball),
  ]),
  async () => {
    const found = await sizes(project)
    for (const { name, bytes } of found)
      console.log(`${name.padEnd(20)} ${(bytes / 1_000).toFixed(1).padStart(5)} kB minified and gzipped`)
    return mustBeEmpty(
      found
        .filter(({ bytes, limit }) => bytes > limit)
        .map(({ name, bytes, limit }) => `${name} weighs ${bytes} bytes; its limit is ${limit}`),
    )
  },
]

function surfaceIs(item: (typeof packages)[number]): string[] {
  const written = readFileSync(join(item.folder, 'api.md'), 'utf8')
  return written === surfaceOf(item)
    ? []
    : [`${item.name}: api.md is not what it exports; \`pnpm --dir tools/docs write api\` writes it`]
}

async function mustBeEmpty(faults: readonly string[]): Promise<void> {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

/** As many at a time as there are processors: most of them are processes. */
async function work(): Promise<void> {
  for (let check = checks.shift(); check !== undefined; check = checks.shift())
    try {
      await check()
    } catch (error) {
      console.error(`pack-check: ${(error as Error).message}`)
      process.exitCode = 1
    }
}
const count = checks.length
await Promise.all(Array.from({ length: availableParallelism() }, work))
if (!process.exitCode)
  console.log(`${packages.length} packages: packed, unpacked, and ${count} checks of them`)
