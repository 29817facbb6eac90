// Puts into `tarballs` what a release consists of: the built packages, packed and used as a stranger would, what each
// depends on by the lockfile, as a CycloneDX file, their digests, and the names of those that npm does not have. `--dry-run` also does what the job does that
// stages them, without an upload. `--compare` is for after the approval: npm must have these very bytes.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './packages.ts'
import { digestOf, sums, writeDigests } from './pack.ts'
import { pack, packed, sbomOf, type Packed } from './pack.ts'
import { pendingIn, taggedIn, tagOf } from './pack.ts'
import { must, run } from './run.ts'

const [what] = process.argv.slice(2)
const pending = what === undefined ? pendingIn(new URL('../../../.changeset/', import.meta.url)) : []
if (pending.length > 0)
  throw new Error(`No version contains ${pending.join(', ')}: \`npm run release -- version\` comes first`)
const folder = await pack()
const each = packed().flatMap(({ name }) => ['--filter', name])
const form = ['--sbom-format', 'cyclonedx', '--prod', '--split', '--out', join(folder, '%s-%v.cdx.json')]
await must('pnpm sbom', 'pnpm', ['--recursive', ...each, 'sbom', ...form], { cwd: root })
const faults: string[] = []

const integrityOf = ({ file }: Packed): string => `sha512-${digestOf(join(folder, file), 'base64')}`

/** Returns the digest of the tarball that npm has of a version; `undefined` if it has none. */
async function published({ name, version }: Packed): Promise<string | undefined> {
  const { ok, output } = await run('npm', ['view', `${name}@${version}`, 'dist.integrity'], { cwd: folder })
  if (!ok && /\bE404\b/.test(output)) return undefined
  if (!ok) throw new Error(`npm does not say whether it has ${name}@${version}\n${output}`)
  return /sha512-\S+/.exec(output)?.[0]
}

const states = await Promise.all(packed().map(async (item) => ({ item, there: await published(item) })))
if (what === '--compare') {
  const isTagged = taggedIn(folder)
  // A tagged version was compared before. The tarball made of it here can differ: it asks for newer versions of the others.
  for (const { item, there } of states)
    if (isTagged(item)) for (const file of [item.file, sbomOf(item)]) rmSync(join(folder, file))
    else if (there !== integrityOf(item))
      faults.push(`${item.file} is not what npm has: ${there ?? 'nothing'}`)
  const fresh = packed().filter((item) => !isTagged(item))
  writeFileSync(join(folder, 'TAGS'), fresh.map((item) => `${tagOf(item)} ${sbomOf(item)}\n`).join(''))
} else {
  const check = ['src/check.ts', folder]
  console.log(
    await must('the check of the tarballs', process.execPath, check, {
      cwd: join(import.meta.dirname, '..'),
    }),
  )
  const missing = states.filter(({ there }) => there === undefined)
  writeFileSync(join(folder, 'NEW'), missing.map(({ item }) => `${item.file}\n`).join(''))
}
writeDigests(folder)

if (what === '--dry-run') {
  execFileSync('sha512sum', ['--check', '--strict', sums], { cwd: folder, stdio: 'inherit' })
  for (const { item, there } of states) if (there === undefined) faults.push(...(await stagingFaults(item)))
}

/** Stages a tarball without an upload: what would be sent must have the digest of the list. */
async function stagingFaults(item: Packed): Promise<string[]> {
  const options = ['--access', 'public', '--no-git-checks', '--dry-run', '--json']
  const output = await must('staging', 'pnpm', ['stage', 'publish', `./${item.file}`, ...options], {
    cwd: folder,
  })
  const staged = /"integrity": "([^"]+)"/.exec(output)?.[1]
  console.log(`would stage ${item.name}@${item.version}, ${staged}`)
  return staged === integrityOf(item) ? [] : [`${item.file} would be staged as ${staged}`]
}

for (const fault of faults) console.error(`release: ${fault}`)
if (faults.length > 0) process.exitCode = 1
else console.log(`${states.length} tarballs, what is inside of each, and their digests are in ${folder}`)
