// What is inside of each package and what it depends on, by the lockfile: a CycloneDX file beside each tarball.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { packed, type Packed } from './pack.ts'
import { root } from './packages.ts'
import { must } from './run.ts'

/** Returns the name of the file that says what is inside of a package. */
export function sbomOf({ file }: Packed): string {
  return file.replace(/\.tgz$/, '.cdx.json')
}

/** What is read of a CycloneDX file. */
export interface Sbom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } }
  readonly components: readonly {
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly 'bom-ref': string
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

/** The packages that hold code of their development dependencies, and where they list it with its licences. */
const compiledIn: Readonly<Record<string, string>> = {
  '@tokenlane/sandbox': 'packages/sandbox/console/dist/licenses.md',
}

/** Writes the file of each package into a folder, and returns what is wrong with them, one sentence each. */
export async function writeSboms(folder: string): Promise<string[]> {
  const form = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-spec-version', Spec.Version.v1dot6]
  const each = packed().flatMap(({ name }) => ['--filter', name])
  const files = ['--prod', '--split', '--out', join(folder, '%s-%v.cdx.json')]
  await must('pnpm sbom', 'pnpm', ['--recursive', ...each, ...form, ...files], { cwd: root })
  for (const item of packed()) {
    const licences = compiledIn[item.name]
    if (licences === undefined) continue
    const path = join(folder, sbomOf(item))
    const all = await must('pnpm sbom', 'pnpm', ['--filter', item.name, ...form], { cwd: root })
    const list = readFileSync(join(root, licences), 'utf8')
    const sbom = withCompiledIn(JSON.parse(readFileSync(path, 'utf8')) as Sbom, JSON.parse(all) as Sbom, list)
    writeFileSync(path, `${JSON.stringify(sbom, undefined, 2)}\n`)
  }
  const faults = await Promise.all(packed().map((item) => faultOf(item, folder)))
  return faults.filter((fault) => fault !== undefined)
}

/**
 * Adds the packages of a list of licences (`## preact - 11.2.0 (MIT)`) to a CycloneDX file.
 *
 * @param all the file with all that development needs.
 * @throws Error if the list is empty, or names what `all` does not have.
 */
export function withCompiledIn(sbom: Sbom, all: Sbom, licences: string): Sbom {
  const names = [...licences.matchAll(/^## (\S+) - (\S+) /gm)].map(
    ([, name, version]) => `${name}@${version}`,
  )
  if (names.length === 0) throw new Error('The list of licences names no package')
  const nameOf = ({ group, name, version }: Sbom['components'][number]): string =>
    `${group === undefined ? '' : `${group}/`}${name}@${version}`
  const known = new Set(sbom.components.map(nameOf))
  const added = names
    .filter((name) => !known.has(name))
    .map((name) => {
      const component = all.components.find((other) => nameOf(other) === name)
      if (component === undefined) throw new Error(`${name} is in a package, and not in the lockfile`)
      return component
    })
  const refs = added.map((component) => component['bom-ref'])
  const own = sbom.metadata.component['bom-ref']
  return {
    ...sbom,
    components: [...sbom.components, ...added],
    dependencies: [
      ...sbom.dependencies.map((item) =>
        item.ref === own ? { ...item, dependsOn: [...(item.dependsOn ?? []), ...refs] } : item,
      ),
      ...refs.map((ref) => ({ ref, dependsOn: [] })),
    ],
  }
}

async function faultOf(item: Packed, folder: string): Promise<string | undefined> {
  const file = sbomOf(item)
  const text = readFileSync(join(folder, file), 'utf8')
  const fault = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  return fault === null
    ? undefined
    : `${file} is not CycloneDX ${Spec.Version.v1dot6}: ${JSON.stringify(fault)}`
}
