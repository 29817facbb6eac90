import { expect, test } from 'vitest'

import { hiddenLeaksIn, leaksIn } from '../src/printed.ts'

const token = 'token-that-nobody-may-see'

class Holder {
  readonly kept = { token }
}

test.each([
  ['a member', { token }],
  ['a member far down', { a: { b: { c: { d: { e: { f: [{ token }] } } } } } }],
  ['the member of a symbol', { [Symbol('kHeaders')]: [token] }],
  ['an inherited member', Object.create({ a: { token } })],
  ['a cause', new Error('a', { cause: new Error('b', { cause: token }) })],
  ['a stack', Object.assign(new Error('a'), { stack: token })],
  ['text', { toString: () => token }],
  ['what toJSON returns', Object.defineProperty({}, 'toJSON', { value: () => ({ token }) })],
  ['a key of a map', new Map([[token, 1]])],
  ['an object of a class', new Holder()],
])('a token in %s is printed', (_, value) => {
  expect(leaksIn([value])).toHaveLength(1)
})

test.each([
  ['a hidden member', Object.defineProperty({}, 'hidden', { value: token })],
  ['a getter', Object.defineProperty({}, 'token', { get: () => token, configurable: true })],
])('a token in %s is printed of what is our own', (_, value) => {
  expect(leaksIn([value])).toEqual([])
  expect(hiddenLeaksIn([value])).toHaveLength(1)
})

test('what holds no token is clean', () => {
  expect(hiddenLeaksIn([new Error('a'), { a: 1 }, undefined])).toEqual([])
})
