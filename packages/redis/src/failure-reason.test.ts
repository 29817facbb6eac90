import { Redis } from 'ioredis'
import { ErrorReply, createClient } from 'redis'
import { expect, test } from 'vitest'

import { reasonOf } from './failure-reason.ts'

test('a client that is not connected is told apart from other failures', async () => {
  const reason = await createClient().get('any').catch(reasonOf)
  expect(reason).toBe('CLIENT_CLOSED_ERROR')
})

test.each([
  [false, 'CLIENT_OFFLINE_ERROR'],
  [true, 'CLIENT_CLOSED_ERROR'],
])(
  'so it is with ioredis, whose errors have neither code nor class; offline queue: %s',
  async (enableOfflineQueue, reason) => {
    const client = new Redis({ lazyConnect: true, enableOfflineQueue, port: 1, retryStrategy: () => null })
    client.on('error', () => {})
    expect(await client.get('any').catch(reasonOf)).toBe(reason)
    client.disconnect()
  },
)

test.each([
  [new ErrorReply('OOM command not allowed'), 'OOM'],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [new Error('Command timed out'), 'COMMAND_TIMEOUT_ERROR'],
  [new Error('anything'), 'Error'],
])('the reason of %s is %s', (error, reason) => {
  expect(reasonOf(error)).toBe(reason)
})
