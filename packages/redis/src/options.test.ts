import { expect, onTestFinished, test } from 'vitest'
import { redisLimiter } from './limiter/redis-limiter.ts'

test('no option is read that other code has put on every object', () => {
  const client = { eval() {}, evalSha() {} } as never
  const prototype = Object.prototype as { fallbackShare?: unknown; client?: unknown }
  onTestFinished(() => {
    for (const name of ['fallbackShare', 'client'] as const) delete prototype[name]
  })
  Object.assign(prototype, { fallbackShare: 1, client })
  expect(() => redisLimiter({ client } as never)).toThrow('`fallbackShare` is missing')
  expect(() => redisLimiter({ fallbackShare: 1 } as never)).toThrow('`client` is not a Redis client')
})

test.each([
  ['that speaks HTTP, as that of Upstash', {}],
  ['that calls back, as `redis` 3', { on() {}, send_command() {}, sendCommand() {} }],
  ['of Deno', { eval() {}, evalsha() {}, close() {} }],
])('a client %s, whose commands take their keys in another way, is refused', (_, others) => {
  const client = { eval() {}, evalsha() {}, ...others }
  expect(() => redisLimiter({ client, fallbackShare: 1 } as never)).toThrow(
    /`client` is (?:not a Redis client|a client in legacy mode)/,
  )
})

test('all that is wrong is said at once, with the option that was meant', () => {
  expect(() => redisLimiter({ client: 7, fallbackshare: 2, timeout: 0 } as never)).toThrow(
    /did you mean `fallbackShare`.*`client` is not a Redis client.*`fallbackShare` is missing.*`timeout` is 0/s,
  )
})
