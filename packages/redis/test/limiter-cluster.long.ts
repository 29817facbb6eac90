// Long: a Redis Cluster of three servers.
import { createTokenManager, type TokenlaneEvent } from '@tokenlane/core'
import { beforeEach, expect, test } from 'vitest'
import { redisLimiter } from '../src/index.ts'
import { clientKinds } from './clients.ts'
import { connectCluster, startClusterOfOne } from './support/cluster-of-one.ts'
import { useRedis } from './support/use-redis.ts'

const baseUrl = 'https://api.example.com/'

const redis = useRedis(startClusterOfOne)
beforeEach(() => redis.client.flushAll())

test.each(clientKinds)('a cluster of %s gives permits, and keeps an API in one slot', async (kind) => {
  const client = await connectCluster(kind, redis.server)
  const events: TokenlaneEvent[] = []
  const sentAt: number[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
      },
    },
    apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: 4, window: 150 }] } }],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
    limiter: redisLimiter({ client, fallbackShare: 1, timeout: 5_000 }),
    observe: (event) => events.push(event),
  })
  const call = async (): Promise<void> =>
    tokens.route(baseUrl)?.send(async () => {
      sentAt.push(performance.now())
      return { status: 200, result: undefined, discard() {} }
    })
  await Promise.all(Array.from({ length: 6 }, call))
  expect(sentAt).toHaveLength(6)
  expect((sentAt[4] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThan(150)
  expect(events.filter(({ type }) => type.startsWith('limiter.'))).toEqual([])
  const keys = await redis.client.keys('*')
  expect(keys.length).toBeGreaterThan(1)
  const slots = await Promise.all(keys.map((key) => redis.client.sendCommand(['CLUSTER', 'KEYSLOT', key])))
  expect(new Set(slots).size).toBe(1)
  await tokens.close()
  client.destroy()
})
