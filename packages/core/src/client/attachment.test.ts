import { expect, test } from 'vitest'

import { managerOf, markManaged, mustBeManager, refuseArgument } from './attachment.ts'

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
