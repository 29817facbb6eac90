import tls from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'

import { builtinModule } from './builtin-module.ts'

afterEach(() => vi.unstubAllGlobals())

test('a module of Node is returned as it is', () => {
  expect(builtinModule('node:tls')).toBe(tls)
  expect(builtinModule('cloudflare:workers')).toBeUndefined()
})

test.each([
  ['no process', undefined],
  ['a process without modules', {}],
  [
    'a process that throws, as the edge runtime of Next.js',
    {
      get getBuiltinModule() {
        throw new Error('A Node.js API is used')
      },
    },
  ],
])('a runtime with %s has none', (_, process) => {
  vi.stubGlobal('process', process)
  expect(builtinModule('node:tls')).toBeUndefined()
})
