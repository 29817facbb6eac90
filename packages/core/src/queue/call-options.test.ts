import { expect, test } from 'vitest'

import { checkCallOptions } from './call-options.ts'

test('a call may have a priority, say whether it may be sent again, or have nothing to say', () => {
  for (const options of [{}, { priority: 0 }, { priority: -3 }, { priority: undefined }, { resend: false }])
    expect(checkCallOptions(options)).toMatchObject(options)
  expect(checkCallOptions(undefined)).toEqual({})
})

test.each([
  [5, '`tokenlane` is a number; allowed: an object'],
  [null, '`tokenlane` is null; allowed: an object'],
  [[], '`tokenlane` is an array; allowed: an object'],
  [{ prio: 1 }, '`tokenlane.prio` is not an option; allowed: priority, resend, cost'],
  [{ priority: 1.5 }, '`tokenlane.priority` is 1.5; allowed: a whole number'],
  [{ resend: 1 }, '`tokenlane.resend` is 1; allowed: true or false'],
  [{ priority: '1' }, '`tokenlane.priority` is a string; allowed: a whole number'],
  [
    { priority: Number.MAX_SAFE_INTEGER },
    '`tokenlane.priority` is 9007199254740991; allowed: a whole number',
  ],
])('%j is refused', (options, message) => {
  expect(() => checkCallOptions(options)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTIONS',
      message: `Cannot send call: ${message} (see node_modules/@tokenlane/core/troubleshoot.md#invalid_options)`,
    }),
  )
})
