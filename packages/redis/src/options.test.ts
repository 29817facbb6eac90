import { expect, onTestFinished, test } from 'vitest'

import { checkOptions } from './options.ts'

test('no option is read that other code has put on every object', () => {
  const client = { eval() {}, evalSha() {} } as never
  const prototype = Object.prototype as { prefix?: unknown; key?: unknown; client?: unknown }
  onTestFinished(() => {
    for (const name of ['prefix', 'key', 'client'] as const) delete prototype[name]
  })
  Object.assign(prototype, { prefix: 'evil', key: 'evil', client })
  const { prefix, key } = checkOptions<{ client: never; key?: string }>('store', { client }, [
    'client',
    'key',
  ])
  expect([prefix, key]).toEqual(['tokenlane', undefined])
  expect(() => checkOptions('store', {} as { client: never }, ['client'])).toThrow(
    '`client` is not a Redis client',
  )
})
