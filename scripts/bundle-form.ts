import { join } from 'node:path'
import type { OutputOptions, Plugin } from 'rolldown'

/** How a package's files are written, whatever is in them. */
export const form: OutputOptions = {
  format: 'esm',
  sourcemap: true,
  comments: false,
  // Short names of locals leave a sixth less to parse: importing core takes 0.1 less of what it is built on.
  // Functions, classes and lines keep their names and places, so that a stack trace can be read. White space stays: without
  // it importing core takes 0.03 less, and Node prints all of a file that is one line with an error that is not caught.
  minify: {
    compress: false,
    mangle: { toplevel: false, keepNames: true },
    codegen: { removeWhitespace: false },
  },
  minifyInternalExports: false,
}

/**
 * Dependencies of which a package's own file holds what it uses, in place of an import.
 *
 * Core uses one class of p-queue's five files, and a quarter of oauth4webapi. To find and read all of them would nearly
 * double core's import, at each start of an application. So an update of either reaches an application with a release of
 * core; both stay among its dependencies, by their exact versions, where an audit finds them.
 */
export const held: Readonly<Record<string, readonly string[]>> = { core: ['p-queue', 'oauth4webapi'] }

/** What a file of several doors is made of has no path of its own. */
const prefix = 'doors:'

/** `exports` of a manifest: each door of a package, with its types and its file. */
export type Doors = Readonly<Record<string, string | { readonly types?: string; readonly default: string }>>

/**
 * Returns a file for each that `exports` names, with all doors that name it: a door's source is found by its types.
 *
 * Core's main file is also that of its door `./adapter`. An application that sends calls needs both, and a file of its
 * own for the second would take a twelfth of what core with `@tokenlane/fetch` takes to import.
 */
export function inputOf(
  exports: Doors,
  sources: string,
): { readonly input: Record<string, string>; readonly plugins: Plugin[] } {
  const files = new Map<string, string[]>()
  for (const target of Object.values(exports)) {
    const { types = '', default: file } = typeof target === 'string' ? { default: target } : target
    const name = /^\.\/dist\/(.+)\.js$/.exec(file)?.[1]
    if (name === undefined) continue
    const door = /^\.\/dist\/(.+)\.d\.ts$/.exec(types)?.[1] ?? name
    files.set(prefix + name, [...(files.get(prefix + name) ?? []), join(sources, `${door}.ts`)])
  }
  return {
    input: Object.fromEntries(Array.from(files.keys(), (id) => [id.slice(prefix.length), id])),
    plugins: [
      {
        name: 'doors',
        resolveId: (id) => (files.has(id) ? id : undefined),
        load: (id) =>
          files
            .get(id)
            ?.map((source) => `export * from ${JSON.stringify(source)}`)
            .join('\n'),
      },
    ],
  }
}

/** The main file of a package. */
export const mainFile = new RegExp(`^${prefix}index$`)

/** Whether a module belongs to a package of its own, not to the one that is built. */
export function isPackage(id: string): boolean {
  return /^[^./]/.test(id) && !id.startsWith(prefix)
}
