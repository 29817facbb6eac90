import type { TokenStore } from '@tokenlane/core/fleet'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectClient, connectionsTo } from '../../test/clients.ts'
import { startClusterOfOne } from '../../test/support/cluster-of-one.ts'
import { redisTokenStore } from './redis-token-store.ts'
import type { RedisClient } from '../redis-client.ts'
import { useRedis } from '../../test/support/use-redis.ts'

const redis = useRedis(startClusterOfOne)
beforeEach(() => redis.client.flushAll())

const connections = connectionsTo(() => redis.server)

describe.each(Object.keys(connections))('with %s', (connection) => {
  let client: RedisClient & { destroy(): void }
  let store: TokenStore
  beforeAll(async () => {
    client = await (connections[connection] as (typeof connections)[string])()
    store = redisTokenStore({ client })
  })
  afterAll(() => client.destroy())

  const fenceOf = async (lease = 60_000, name = 'name'): Promise<string> => {
    const claim = await store.claim(name, undefined, lease)
    return claim !== 'locked' && 'fence' in claim ? claim.fence : expect.fail('no fence')
  }

  test('one has the right to ask, and what it writes is there for all', async () => {
    const fence = await fenceOf()
    expect(await store.claim('name', undefined, 60_000)).toBe('locked')
    await store.write('name', fence, 'entry', 60_000)
    expect(await store.claim('name', undefined, 60_000)).toEqual({
      entry: 'entry',
      expiresIn: expect.any(Number) as number,
    })
    expect(await store.claim('name', 'another', 60_000)).toMatchObject({ entry: 'entry' })
  })

  test('one has the right to replace what is stale', async () => {
    await store.write('name', await fenceOf(), 'entry', 60_000)
    expect(await store.claim('name', 'entry', 60_000)).toHaveProperty('fence')
    expect(await store.claim('name', 'entry', 60_000)).toBe('locked')
    expect(await store.claim('name', undefined, 60_000)).toMatchObject({ entry: 'entry' })
  })

  test('the right ends with its lease, and its former holder changes nothing afterwards', async () => {
    const late = await fenceOf(1)
    const fence = await vi.waitFor(() => fenceOf())
    await store.write('name', late, 'late', 60_000)
    await store.release('name', late, 0)
    expect(await store.claim('name', undefined, 60_000)).toBe('locked')
    await store.write('name', fence, 'entry', 60_000)
    await store.write('name', late, 'late', 60_000)
    await store.write('name', fence, 'again', 60_000)
    expect(await store.claim('name', undefined, 60_000)).toMatchObject({ entry: 'entry' })
  })

  test('a right that is given back is free at once, or after the pause', async () => {
    await store.release('name', await fenceOf(), 0)
    await store.release('name', await fenceOf(), 59_999.5)
    expect(await store.claim('name', undefined, 60_000)).toBe('locked')
    expect(await redis.client.pTTL('tokenlane:{name}:lock')).toBeGreaterThan(0)
  })

  test('an entry is dropped by comparison', async () => {
    await store.write('name', await fenceOf(), 'entry', 60_000)
    await store.drop('name', 'older')
    expect(await store.claim('name', undefined, 60_000)).toMatchObject({ entry: 'entry' })
    await store.drop('name', 'entry')
    await fenceOf()
  })

  test('entries and locks end by themselves, and nothing else is kept', async () => {
    await store.write('name', await fenceOf(), 'entry', 12_345.6)
    await store.claim('name', 'entry', 6_543.2)
    expect((await redis.client.keys('*')).toSorted()).toEqual([
      'tokenlane:{name}:lock',
      'tokenlane:{name}:token',
    ])
    expect(await redis.client.pTTL('tokenlane:{name}:token')).toSatisfy((left) => left > 0 && left <= 12_345)
    expect(await redis.client.pTTL('tokenlane:{name}:lock')).toSatisfy((left) => left > 0 && left <= 6_543)
  })

  test('a lock without an end, which no Tokenlane process set, is replaced', async () => {
    await redis.client.set('tokenlane:{name}:lock', 'somebody')
    expect(await store.claim('name', undefined, 60_000)).toHaveProperty('fence')
  })
})

test('the prefix comes first in every key', async () => {
  const client = await connectClient('redis', redis.server.url)
  await redisTokenStore({ client, prefix: 'shop:production' }).claim('name', undefined, 1_000)
  client.destroy()
  expect(await redis.client.keys('*')).toEqual(['shop:production:{name}:lock'])
})

const usable = { eval() {}, evalSha() {} }
test.each([
  [undefined, 'options'],
  [{}, 'client'],
  [{ client: null }, 'client'],
  [{ client: { get() {}, set() {} } }, 'client'],
  [{ client: 'redis://127.0.0.1' }, 'client'],
  [{ client: usable, prefix: '' }, 'prefix'],
  [{ client: usable, prefix: 'a{}' }, 'prefix'],
  [{ client: usable, prefix: 7 }, 'prefix'],
  [{ client: usable, preffix: 'a' }, 'preffix'],
])('%j is refused', (options, named) => {
  expect(() => redisTokenStore(options as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining(`\`${named}\``) as string,
    }),
  )
})

// ioredis#2109: a Cluster's automatic pipelines took the text of a script for its key
test('scripts of ioredis enter no automatic pipeline', async () => {
  const named: string[] = []
  const string = async (): Promise<unknown> => ['locked']
  const fails = async (): Promise<never> => expect.fail('in a pipeline')
  const createBuiltinCommand = (name: string) => {
    named.push(name)
    return { string }
  }
  const client = { on() {}, eval: fails, evalsha: fails, createBuiltinCommand }
  const store = redisTokenStore({ client })
  for (let time = 0; time < 2; time += 1) expect(await store.claim('name', undefined, 60_000)).toBe('locked')
  expect(named).toEqual(['eval', 'evalsha'])
})

test('a right whose reply never comes is given back', async () => {
  vi.useFakeTimers()
  const args: string[][] = []
  const command = (_: string, options: { arguments: string[] }): Promise<unknown> => {
    args.push(options.arguments)
    return new Promise(() => {})
  }
  const client: RedisClient = { eval: command, evalSha: command }
  void redisTokenStore({ client }).claim('name', undefined, 60_000)
  await vi.advanceTimersByTimeAsync(1_990)
  expect(args).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(20)
  expect(args[1]).toEqual([args[0]?.[1], '0'])
  vi.useRealTimers()
})
