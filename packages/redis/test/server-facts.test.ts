import { createClient } from 'redis'
import { beforeEach, expect, test } from 'vitest'
import { redisLimiter, redisTokenStore } from '../src/index.ts'
import { connectClient, connectionsTo } from './clients.ts'
import { startClusterOfOne } from './support/cluster-of-one.ts'
import { useRedis } from './support/use-redis.ts'

const redis = useRedis(startClusterOfOne)
beforeEach(() => redis.client.configSet({ maxmemory: '0', 'maxmemory-policy': 'noeviction' }))

const serverName =
  process.env['TOKENLANE_TEST_SERVER'] === 'valkey'
    ? /^Valkey \d+\.\d+\.\d+$/
    : /^(?:Redis|Valkey) \d+\.\d+\.\d+$/

const connections = connectionsTo(() => redis.server)

test.each(Object.entries(connections))(
  'store and limiter say version, clock and eviction policy of their server, with %s',
  async (_, connect) => {
    const client = await connect()
    const seen = await redisTokenStore({ client }).server?.()
    expect(seen).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      name: expect.stringMatching(serverName) as string,
      evictionPolicy: 'noeviction',
    })
    expect(seen?.refused).toBeUndefined()
    expect(Math.abs(seen?.clockOffset ?? Infinity)).toBeLessThan(1_000)
    expect((await redisLimiter({ client, fallbackShare: 1 }).server?.())?.id).toBe(seen?.id)
    client.destroy()
  },
)

test('an eviction policy counts only where the memory has a limit', async () => {
  const client = await connectClient('redis', redis.server.url)
  const policy = async (): Promise<string | undefined> =>
    (await redisTokenStore({ client }).server?.())?.evictionPolicy
  await redis.client.configSet({ 'maxmemory-policy': 'allkeys-lru' })
  expect(await policy()).toBe('noeviction')
  await redis.client.configSet({ maxmemory: '100mb' })
  expect(await policy()).toBe('allkeys-lru')
  client.destroy()
})

test('a user that may not use INFO still learns the clock, and that INFO was refused', async () => {
  await redis.client.aclSetUser('plain', ['on', '>password', '~*', '&*', '+@all', '-info'])
  const client = createClient({ url: redis.server.url.replace('//', '//plain:password@') })
  client.on('error', () => {})
  await client.connect()
  const seen = await redisTokenStore({ client }).server?.()
  expect(seen).toMatchObject({ id: '', name: 'Redis', evictionPolicy: undefined, refused: 'INFO' })
  expect(Math.abs(seen?.clockOffset ?? Infinity)).toBeLessThan(1_000)
  client.destroy()
})
