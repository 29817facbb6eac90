import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Project } from './project.ts'
import { must } from './run.ts'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
/** Under which name each TypeScript that users have is installed. The newest is fast enough to check libraries too. */
const compilers = {
  'TypeScript 5.9': ['typescript-5.9', '--skipLibCheck'],
  'TypeScript 6': ['typescript-6', '--skipLibCheck'],
  'TypeScript 7': ['typescript'],
} as const
const resolutions = {
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'preserve', '--moduleResolution', 'bundler'],
}

/** One check for each TypeScript and way to resolve modules: the file of the consumer as ESM, and as CommonJS. */
export function typeChecks({ folder }: Project): (() => Promise<string>)[] {
  const esm = readFileSync(join(folder, 'types.mts'), 'utf8')
  const commonJs = esm
    .replace("import axios from 'axios'", "import axios = require('axios')")
    .replace(/^import (got|ky) from/gm, 'import { default as $1 } from')
  writeFileSync(join(folder, 'types.cts'), commonJs)
  const flags = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node']
  return Object.entries(compilers).flatMap(([name, [alias, ...compilerFlags]]) =>
    Object.entries(resolutions).map(([resolution, resolutionFlags]) => () => {
      const tsc = join(modules, alias, 'bin', 'tsc')
      const args = [tsc, ...flags, ...compilerFlags, ...resolutionFlags, 'types.mts', 'types.cts']
      return must(`${name} (${resolution})`, process.execPath, args, { cwd: folder })
    }),
  )
}
