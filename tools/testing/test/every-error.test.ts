import { expect, test } from 'vitest'

import { leaksIn } from '../src/every-error.ts'

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

test('what holds no token is clean', () => {
  expect(leaksIn([new Error('a'), { a: 1 }, undefined], Infinity)).toEqual([])
})
