import { expect, test } from 'vitest'

import { typescriptHint } from './typescript.ts'

const failure = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code })
const missing = (what: string): Error =>
  failure(`Cannot find ${what} imported from /app/tokens.ts`, 'ERR_MODULE_NOT_FOUND')

test.each<[string, Error, string]>([
  ['an enum', failure('enum', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'), 'Node only strips types'],
  ['a decorator', new SyntaxError('Invalid or unexpected token'), 'neither decorators'],
  [
    'a type that is imported as a value',
    new SyntaxError("The requested module '@tokenlane/core' does not provide an export named 'TokenManager'"),
    '`import type`',
  ],
  ['JSON', failure('needs an attribute', 'ERR_IMPORT_ATTRIBUTE_MISSING'), "`with { type: 'json' }`"],
  ['JSX', failure('Unknown file extension ".tsx"', 'ERR_UNKNOWN_FILE_EXTENSION'), 'no JSX'],
  ['the alias @app/', missing("package '@app/a'"), 'path aliases'],
  ['the alias @/', missing("package '@/a'"), 'path aliases'],
  ['the alias ~/', missing("package '~'"), 'path aliases'],
  ['a file without its extension', missing("module '/app/env'"), 'their extension'],
])('%s in a TypeScript module is explained, with the way out', (_, error, why) => {
  expect(typescriptHint(error, '/app/tokens.ts')).toMatch(/^ Node .*: build the module and .*tsx/)
  expect(typescriptHint(error, '/app/tokens.ts')).toContain(why)
})

test.each([
  ['a package that is not installed', missing("package 'pino'"), '/app/tokens.ts'],
  ['JavaScript that is none', new SyntaxError('Unexpected token'), '/app/tokens.js'],
  ['an error of its own', new Error('no database'), '/app/tokens.ts'],
  ['nothing', undefined, '/app/tokens.ts'],
])('%s is not', (_, error, file) => {
  expect(typescriptHint(error, file)).toBe('')
})
