import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import { rolldown } from 'rolldown'

import { type Doors, form, held, inputOf, isPackage } from '../../scripts/bundle-form.ts'

const core = join(import.meta.dirname, '../../packages/core')
const { publishConfig } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8')) as {
  readonly publishConfig: { readonly exports: Record<'.' | './adapter', Doors[string]> }
}
/** The doors of its main file. */
const { '.': main, './adapter': adapter } = publishConfig.exports

/** How core's file could be made. */
export interface CoreForm {
  /** Source files that are left out, by their path in `src`, each with what its importers find in its place. */
  readonly leftOut?: Readonly<Record<string, string>>
  /** Packages of which core's file itself holds what it uses; by default those of the published form. */
  readonly holds?: readonly string[] | undefined
}

/** Installs core in another form, as the package `name`, beside the one that is published. */
export async function installCoreForm(folder: string, name: string, wanted: CoreForm): Promise<void> {
  const { leftOut = {}, holds = held['core'] ?? [] } = wanted
  for (const file of Object.keys(leftOut))
    if (!existsSync(join(core, 'src', file))) throw new Error(`Cannot leave out: core has no ${file}`)
  const { input, plugins } = inputOf({ main, adapter }, join(core, 'src'))
  const bundle = await rolldown({
    input,
    cwd: core,
    platform: 'neutral',
    resolve: { conditionNames: ['import', 'default'] },
    external: (id) => isPackage(id) && !holds.includes(id),
    plugins: [
      plugins,
      {
        name: 'left out',
        load: (id) => leftOut[relative(join(core, 'src'), id)],
      },
    ],
  })
  const modules = join(folder, 'node_modules')
  cpSync(join(modules, '@tokenlane/core'), join(modules, name), { recursive: true })
  await bundle.write({ ...form, dir: join(modules, name, 'dist') })
  await bundle.close()
}
