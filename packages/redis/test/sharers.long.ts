// Long: the same scenes, played for 20 s by one process and by ten that share a budget in Redis.
import { setTimeout as sleep } from 'node:timers/promises'
import { createTokenManager, type RatePolicy, type TokenManager } from '@tokenlane/core'
import { createClient } from 'redis'
import { expect, test } from 'vitest'
import { redisLimiter } from '../src/index.ts'
import { useRedis } from './support/use-redis.ts'

const redis = useRedis()
const baseUrl = 'https://api.example.com/'
const seconds = 20
const callers = 40

interface Scene {
  readonly policy: RatePolicy
  /** What the API takes in a second. */
  readonly quota: number
  readonly says: 'Retry-After' | 'nothing'
  /** What the first process does after 5 s. */
  readonly act?: (tokens: TokenManager) => void
}

const thirty: RatePolicy = { limits: [{ quota: 30, window: 1_000 }] }

const scenes: Record<string, Scene> = {
  'a policy that fits': { policy: thirty, quota: 30, says: 'Retry-After' },
  'three times too loose': { policy: thirty, quota: 10, says: 'Retry-After' },
  'three times too loose, without a word': { policy: thirty, quota: 10, says: 'nothing' },
  'a policy without limits': { policy: { limits: [] }, quota: 10, says: 'nothing' },
  'another policy that one of them sets': {
    policy: thirty,
    quota: 30,
    says: 'Retry-After',
    act: (tokens) => tokens.setRatePolicy(baseUrl, { limits: [{ quota: 5, window: 1_000 }] }),
  },
}

interface Figures {
  refusals: number
  /** Accepted calls a second, of the last half. */
  rate: number
  lost: number
}

let fleets = 0

/** Lets so many processes call one API, and counts there. */
async function play({ policy, quota, says, act }: Scene, processes: number): Promise<Figures> {
  const prefix = `sharers${(fleets += 1)}`
  const clients = await Promise.all(
    Array.from({ length: processes }, () => createClient({ url: redis.server.url }).connect()),
  )
  const all = clients.map((client) =>
    createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'client', clientSecret: 'secret' },
        },
      },
      apis: [{ baseUrl, issuer: 'general', ratePolicy: policy }],
      fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
      limiter: redisLimiter({ client, prefix, fallbackShare: 1 / processes, timeout: 10_000 }),
    }),
  )
  const figures: Figures = { refusals: 0, rate: 0, lost: 0 }
  const accepted: number[] = []

  const exchange = async (): Promise<{ status: number; retryAfter?: string }> => {
    const now = performance.now()
    const used = accepted.filter((at) => at > now - 1_000)
    const isOver = used.length >= quota
    if (isOver) figures.refusals += 1
    else accepted.push(now)
    await sleep(isOver ? 10 : 50)
    return isOver ? { status: 429, ...(says === 'Retry-After' && { retryAfter: '1' }) } : { status: 200 }
  }
  const call = async (tokens: TokenManager): Promise<unknown> =>
    tokens.route(baseUrl)?.send(async () => {
      const response = await exchange()
      return { ...response, result: response.status, discard() {} }
    })

  // Redis that knows nothing of a budget holds it for a while
  await Promise.all(all.map(async (tokens) => call(tokens)))
  figures.refusals = 0
  const start = performance.now()
  const isOver = (): boolean => performance.now() > start + seconds * 1_000
  const acting = act && sleep(5_000).then(() => act(all[0] as TokenManager))
  await Promise.all(
    Array.from({ length: callers }, async (_, index) => {
      while (!isOver()) {
        const status = await Promise.race([
          call(all[index % processes] as TokenManager).catch(() => 0),
          sleep(start + seconds * 1_000 + 100 - performance.now(), 'over'),
        ])
        if (status !== 200 && status !== 'over') figures.lost += 1
      }
    }),
  )
  await acting
  const last = accepted.filter((at) => at > start + seconds * 500 && at <= start + seconds * 1_000)
  figures.rate = last.length / (seconds / 2)
  await Promise.all(all.map((tokens) => tokens.close()))
  for (const client of clients) client.destroy()
  return figures
}

test.concurrent.each(Object.entries(scenes))('%s: ten processes behave as one', async (_what, scene) => {
  const [one, many] = await Promise.all([play(scene, 1), play(scene, 10)])
  const figures = JSON.stringify({ one, many })
  // simulated time compares to within 15 %: here the machine's moment decides, too, and how many go in the first burst
  expect(many.lost, figures).toBe(0)
  expect(many.refusals, figures).toBeLessThanOrEqual(one.refusals * 1.15 + 30)
  expect(many.rate, figures).toBeGreaterThan(one.rate * 0.5)
})
