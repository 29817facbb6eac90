// Bun has no `registerHooks`, finds such files by itself, and refuses to import a name that a module does not export
import nodeModule from 'node:module'

import { failureCode } from '../failure-code.ts'

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

const typescript = /\.[cm]?tsx?$/

/** An import in TypeScript of what looks like an alias, or of a file without its extension. */
const unresolved =
  /^Cannot find (?:package '(?:@\/|~|#|src|@?app\b)|module '(?:.*\/)?[^/.]+').* imported from .*\.[cm]?tsx?$/

/**
 * Returns a sentence on what to do about an error of an application's module that Node cannot run as it is, with a space in
 * front; nothing for any other error.
 */
export function typescriptHint(error: unknown, file: string): string {
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown }
  const why = reasonOf(failureCode(error), name, String(message), file)
  if (why === undefined) return ''
  return ` ${why}: build the module and name the compiled file, such as --module dist/tokens.js. If tsx is installed, you can set NODE_OPTIONS='--import tsx' instead.`
}

function reasonOf(code: string, name: unknown, message: string, file: string): string | undefined {
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return 'Node only strips types'
  if (code === 'ERR_IMPORT_ATTRIBUTE_MISSING' && typescript.test(file))
    return "Node imports JSON only by `with { type: 'json' }`"
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && message.includes('.tsx')) return 'Node runs no JSX'
  if (unresolved.test(message)) return 'Node resolves neither path aliases nor files without their extension'
  if (name !== 'SyntaxError' || !typescript.test(file)) return undefined
  return message.includes('does not provide an export')
    ? 'Node imports a type only by `import type`'
    : 'Node runs neither decorators nor anything else that TypeScript has to compile'
}
