import { isAbsolute, join } from 'node:path'

import { rolldown } from 'rolldown'

export interface BundleOptions {
  /** A folder in which the packages are installed. By default those of the workspace are taken. */
  readonly packagesOf?: string | undefined
  /** Modules to put in the place of others: from the end of what is imported to a path, or to a package. */
  readonly instead?: Readonly<Record<string, string>>
  /** Packages that stay outside, besides modules of the runtime. */
  readonly external?: RegExp
}

const ofRuntime = /^(?:node|cloudflare):/

/** Returns a module and what it imports as one file, as those who deploy a worker make it. */
export async function bundled(
  module: string,
  { packagesOf, instead = {}, external }: BundleOptions = {},
): Promise<string> {
  const bundle = await rolldown({
    input: module,
    platform: 'neutral',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['workerd', 'import'] },
    plugins: [
      {
        name: 'tokenlane',
        resolveId(imported) {
          const [, other] = Object.entries(instead).find(([end]) => imported.endsWith(end)) ?? []
          const source = other ?? imported
          if (isAbsolute(source)) return source
          if (ofRuntime.test(source) || external?.test(source)) return { id: source, external: true }
          if (packagesOf === undefined || !source.startsWith('@tokenlane/')) return undefined
          return this.resolve(source, join(packagesOf, 'index.js'))
        },
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return output[0].code
}
