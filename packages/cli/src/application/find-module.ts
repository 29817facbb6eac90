import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where applications keep the module that exports their token manager, in this order. */
const usualPlaces: readonly string[] = ['src', 'lib', 'app', '.', 'dist'].flatMap((folder) =>
  ['ts', 'mts', 'js', 'mjs', 'cjs'].map((ending) => join(folder, `tokens.${ending}`)),
)

/** Returns the path of the application's module, relative to `folder`; `undefined` if it is not in a usual place. */
export function findModule(folder: string): string | undefined {
  return usualPlaces.find((path) => existsSync(join(folder, path)))
}
