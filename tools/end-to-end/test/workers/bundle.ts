import { isAbsolute } from 'node:path'

import { rolldown } from 'rolldown'

const ofRuntime = /^(?:node|cloudflare):/

/**
 * Returns a module and what it imports as one file, as those who deploy a worker make it.
 *
 * @param instead Modules to put in the place of others: from the end of what is imported to a path.
 */
export async function bundled(
  module: string,
  instead: Readonly<Record<string, string>> = {},
): Promise<string> {
  const bundle = await rolldown({
    input: module,
    platform: 'neutral',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['workerd', 'import'] },
    plugins: [
      {
        name: 'tokenlane',
        resolveId(imported) {
          const [, source = imported] = Object.entries(instead).find(([end]) => imported.endsWith(end)) ?? []
          if (isAbsolute(source)) return source
          return ofRuntime.test(source) ? { id: source, external: true } : undefined
        },
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return output[0].code
}
