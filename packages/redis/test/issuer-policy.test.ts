import { createTokenManager, type TokenlaneEvent, type TokenManager } from '@tokenlane/core'
import type { RateLimiterFactory } from '@tokenlane/core/fleet'
import { createClient } from 'redis'
import { expect, test } from 'vitest'
import { type RedisClient, redisLimiter, redisTokenStore } from '../src/index.ts'
import { useRedis } from './support/use-redis.ts'

const redis = useRedis()

interface MemberOptions {
  readonly tokenEndpoint: string
  readonly limiter: RateLimiterFactory
  readonly window?: number
  readonly store?: ReturnType<typeof redisTokenStore>
  readonly observe?: (event: TokenlaneEvent) => void
}

/** A manager whose issuer has a policy, as one process of a fleet has it. */
function join({ tokenEndpoint, window = 60_000, ...options }: MemberOptions): TokenManager {
  const credentials = { clientId: 'client', clientSecret: 'secret' }
  const ratePolicy = { limits: [{ quota: 5, window }] }
  return createTokenManager({
    issuers: { general: { tokenEndpoint, credentials, ratePolicy } },
    apis: [],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
    ...options,
  })
}

const limiterOf = (client: RedisClient = redis.client): RateLimiterFactory =>
  redisLimiter({ client, fallbackShare: 0 })

/** Returns a token endpoint whose budget Redis knows for longer than its first processes are held back. */
async function knownEndpoint(name: string): Promise<string> {
  const tokenEndpoint = `https://auth.example.com/${name}`
  const tokens = join({ tokenEndpoint, limiter: limiterOf(), window: 100 })
  await tokens.getToken('general')
  await tokens.close()
  return tokenEndpoint
}

/** Returns how many requests to the issuer may still be under way, for all that Redis knows. */
async function underWay(tokenEndpoint: string): Promise<number> {
  const [seconds] = await redis.client.time()
  const soon = (Number(seconds) + 1) * 1_000
  return redis.client.zCount(`tokenlane:limiter:{${tokenEndpoint}}:units:`, soon, '+inf')
}

test.concurrent.each([
  ['', () => ({})],
  [', also with a shared token store', () => ({ store: redisTokenStore({ client: redis.client }) })],
])('a process that closes after its token leaves no request under way in Redis%s', async (name, options) => {
  const tokenEndpoint = await knownEndpoint(`short-lived-${name.length}`)
  const tokens = join({ tokenEndpoint, limiter: limiterOf(), ...options() })
  await tokens.getToken('general')
  await tokens.close()
  expect(await underWay(tokenEndpoint)).toBe(0)
})

test.concurrent('managers of one process share a limiter for their issuer until the last of them closes', async () => {
  const tokenEndpoint = await knownEndpoint('two-managers')
  const limiter = limiterOf()
  const [first, second] = [join({ tokenEndpoint, limiter }), join({ tokenEndpoint, limiter })]
  await first.getToken('general')
  await first.close()
  await first.close()
  await second.getToken('general')
  await second.close()
  expect(await underWay(tokenEndpoint)).toBe(0)
})

test.concurrent('a manager that is created after another has closed asks by its own client', async () => {
  const tokenEndpoint = await knownEndpoint('another-client')
  const events: TokenlaneEvent['type'][] = []
  const observe = ({ type }: TokenlaneEvent): void => void events.push(type)
  for (let made = 0; made < 2; made += 1) {
    const client = await createClient({ url: redis.server.url }).connect()
    const tokens = join({ tokenEndpoint, limiter: limiterOf(client), observe })
    await tokens.getToken('general')
    await tokens.close()
    client.destroy()
  }
  expect(events).not.toContain('limiter.failed')
})
