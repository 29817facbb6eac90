// Bun has no `registerHooks`, finds such files by itself, and refuses to import a name that a module does not export
import nodeModule from 'node:module'

/**
 * Lets imports of `./x.js` find `./x.ts` from now on, as the compiler does with `nodenext`: Node removes types, but takes
 * the name of a file literally. A JavaScript file of that name comes first.
 */
export function resolveTypeScript(): void {
  nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context)
      } catch (error) {
        const source = /^\.{1,2}\/.*\.[cm]?js$/.test(specifier) && /\.[cm]?ts$/.test(context.parentURL ?? '')
        if (!source) throw error
        try {
          return next(specifier.replace(/js$/, 'ts'), context)
        } catch {
          throw error
        }
      }
    },
  })
}
