// What is inside of each package, by the lockfile: a CycloneDX file beside each tarball.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { packed, type Packed } from './pack.ts'
import { root } from './packages.ts'
import { must } from './run.ts'

/** Returns the name of the file that says what is inside of a package. */
export function sbomOf({ file }: Packed): string {
  return file.replace(/\.tgz$/, '.cdx.json')
}

/** Writes the file of each package into a folder, and returns what is wrong with them, one sentence each. */
export async function writeSboms(folder: string): Promise<string[]> {
  const each = packed().flatMap(({ name }) => ['--filter', name])
  const form = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', Spec.Version.v1dot6]
  const files = ['--prod', '--split', '--out', join(folder, '%s-%v.cdx.json')]
  await must('pnpm sbom', 'pnpm', ['--recursive', ...each, 'sbom', ...form, ...files], { cwd: root })
  const faults = await Promise.all(packed().map((item) => faultOf(item, folder)))
  return faults.filter((fault) => fault !== undefined)
}

async function faultOf(item: Packed, folder: string): Promise<string | undefined> {
  const file = sbomOf(item)
  const text = readFileSync(join(folder, file), 'utf8')
  const fault = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  return fault === null
    ? undefined
    : `${file} is not CycloneDX ${Spec.Version.v1dot6}: ${JSON.stringify(fault)}`
}
