import { cpSync, existsSync } from 'node:fs'
import { join, relative } from 'node:path'

import { rolldown } from 'rolldown'

import { form, held } from '../../scripts/bundle-form.ts'

const core = join(import.meta.dirname, '../../packages/core')

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
  const bundle = await rolldown({
    input: { index: join(core, 'src/index.ts') },
    cwd: core,
    platform: 'neutral',
    resolve: { conditionNames: ['import', 'default'] },
    external: (id) => /^[^./]/.test(id) && !holds.includes(id),
    plugins: [
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
