import { expect, test } from 'vitest'

import { leaksIn } from '../src/leaks.ts'
import { pathsTo } from '../src/secrets.ts'

const token = 'token-that-nobody-may-see'

test.each([
  ['a member', { token }],
  ['a cause', new Error('a', { cause: new Error('b', { cause: token }) })],
  ['a hidden member of an error', Object.defineProperty(new Error('a'), 'config', { value: { token } })],
  ['a getter', Object.defineProperty({}, 'token', { get: () => token, enumerable: true })],
  ['a stack', Object.assign(new Error('a'), { stack: token })],
  ['text', { toString: () => token }],
  ['a key of a map', new Map([[token, 1]])],
])('a token in %s is found', (_, value) => {
  expect(leaksIn([value], Infinity)).not.toEqual([])
})

test.each([
  ['a member', { a: { token } }, ['.a.token']],
  ['a hidden member', Object.defineProperty({}, 'hidden', { value: token }), ['.hidden']],
  ['the member of a symbol', { [Symbol('kHeaders')]: [token] }, ['.Symbol(kHeaders).0']],
  ['a set', { a: new Set([token]) }, ['.a.<0>', '.a.<1>']],
  ['bytes', { a: Buffer.from(`Bearer ${token}`) }, ['.a']],
  ['nothing', { a: 1 }, []],
])('every path to a token in %s is found', (_, value, paths) => {
  expect(pathsTo(token, value)).toEqual(paths)
})

test('what holds no token is clean', () => {
  expect(leaksIn([new Error('a'), { a: 1 }, undefined], Infinity)).toEqual([])
})
