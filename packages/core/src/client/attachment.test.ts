import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'

import { expect, test } from 'vitest'

import { managerOf, markManaged, mustBeManager, refuseArgument } from './attachment.ts'
import {
  copyOfFields,
  hasAuthorization,
  type HeaderFields,
  isReplayable,
  withToken,
} from './given-request.ts'

test('a mark is seen by every copy of the package, and by no enumeration', () => {
  const tokens = { route() {} }
  const client = markManaged(() => {}, tokens)
  expect(managerOf(client)).toBe(tokens)
  expect((client as never)[Symbol.for('tokenlane.managed')]).toBe(tokens)
  expect(Object.entries(client)).toEqual([])
  for (const none of [undefined, null, 1, () => {}]) expect(managerOf(none)).toBeUndefined()
})

test('what is not a token manager is refused with what is allowed', () => {
  mustBeManager({ route() {} }, 'create fetch')
  for (const none of [undefined, null, {}, 'tokens'])
    expect(() => mustBeManager(none, 'create fetch')).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(
          'Cannot create fetch: `tokens` must be what `createTokenManager` returns',
        ),
      }),
    )
  expect(() => refuseArgument('attach tokens', 'instance', 'an axios instance')).toThrow(
    '`instance` must be an axios instance',
  )
})

const again: unknown[] = [
  undefined,
  null,
  'text',
  Buffer.from('bytes'),
  new Uint16Array(2),
  new ArrayBuffer(2),
  runInNewContext('new ArrayBuffer(2)'),
  new URLSearchParams(),
  new Blob([]),
  new FormData(),
]
const once: unknown[] = [
  Readable.from([]),
  Object.assign(Readable.from([]), { [Symbol.toStringTag]: 'FormData' }),
  new ReadableStream(),
  (function* generate() {})(),
  (async function* generate() {})(),
  {},
]

test.each(again)('%s can be sent again', (body) => {
  expect(isReplayable(body)).toBe(true)
})

test.each(once)('%s can be sent once', (body) => {
  expect(isReplayable(body)).toBe(false)
})

test.each([
  ['an object', (value: string) => ({ 'x-a': 'b', Authorization: value })],
  [
    'pairs',
    (value: string) => [
      ['x-a', 'b'],
      ['Authorization', value],
    ],
  ],
  ['Headers', (value: string) => new Headers({ 'x-a': 'b', Authorization: value })],
] satisfies [string, (value: string) => HeaderFields][])(
  'an empty `Authorization` in %s is none, and the token takes its place',
  (_, fieldsOf) => {
    expect(hasAuthorization(copyOfFields(fieldsOf('Basic x') as never))).toBe(true)
    for (const empty of ['', ' ']) {
      const fields = copyOfFields(fieldsOf(empty))
      expect(hasAuthorization(fields)).toBe(false)
      expect([...new Headers(withToken(fields, 'Bearer x') as never)]).toEqual([
        ['authorization', 'Bearer x'],
        ['x-a', 'b'],
      ])
    }
  },
)

test('headers of a page in a test, as happy-dom makes them, have no tag, and get the token beside their own', () => {
  class Untagged extends Headers {
    get [Symbol.toStringTag](): never {
      return undefined as never
    }
  }
  const given = new Untagged({ 'x-a': 'b', authorization: '' })
  expect(hasAuthorization(copyOfFields(given))).toBe(false)
  const sent = withToken(copyOfFields(given), 'Bearer token') as Headers
  expect([...sent]).toEqual([
    ['authorization', 'Bearer token'],
    ['x-a', 'b'],
  ])
  expect(withToken(given, 'Bearer token').get('x-a')).toBe('b')
})
