import { ErrorReply, createClient } from 'redis'
import { expect, test } from 'vitest'

import { reasonOf } from './failure-reason.ts'

test('a client that is not connected is told apart from other failures', async () => {
  const reason = await createClient().get('any').catch(reasonOf)
  expect(reason).toBe('CLIENT_CLOSED_ERROR')
})

test.each([
  [new ErrorReply('OOM command not allowed'), 'OOM'],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [new Error('Connection is closed.'), 'Error'],
])('the reason of %s is %s', (error, reason) => {
  expect(reasonOf(error)).toBe(reason)
})
