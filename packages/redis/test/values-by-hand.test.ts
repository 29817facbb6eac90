import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { expect, test } from 'vitest'
import { redisLimiter, redisTokenStore } from '../src/index.ts'
import { useRedis } from './support/use-redis.ts'

// What lies in Redis may be written by others: by an operator by mistake, or by an attacker. It costs time, and ends.

const baseUrl = 'https://api.example.com/'
const credentials = { clientId: 'client', clientSecret: 'secret' }
const farAway = 1e15
const redis = useRedis()

/** Managers that stand for processes: of one fleet if they have one prefix. */
function joinFleet(prefix: string): TokenManager {
  return createTokenManager({
    issuers: { general: { tokenEndpoint: 'https://auth.example.com/token', credentials } },
    apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: 5, window: 100 }], spread: true } }],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
    limiter: redisLimiter({ client: redis.client, prefix, fallbackShare: 0, reconnectTime: 500 }),
  })
}

const call = async (tokens: TokenManager): Promise<unknown> =>
  tokens.route(baseUrl)?.send(async () => ({ status: 200, result: undefined, discard() {} }))

const stateOf = (prefix: string): string => `${prefix}:limiter:{${baseUrl}}:state`

/** Changes the state, in Lua. */
const changeByHand = (prefix: string, change: string): Promise<unknown> =>
  redis.client.eval(
    `local state = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'state'))
    ${change}
    redis.call('HSET', KEYS[1], 'state', cmsgpack.pack(state))`,
    { keys: [stateOf(prefix), stateOf(prefix).replace(/state$/, 'sums:')] },
  )

/** The numbers of the state, as they are after a call. */
async function numbersOf(prefix: string): Promise<string[]> {
  const state = await redis.client.eval(
    `local state, names = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'state')), {}
    for name, value in pairs(state) do if type(value) == 'number' then names[#names + 1] = name end end
    return names`,
    { keys: [stateOf(prefix)] },
  )
  return state as string[]
}

test('no number in the state of an API stops its calls for good', async () => {
  const first = joinFleet('by-hand')
  await call(first)
  const names = await numbersOf('by-hand')
  expect(names).toEqual(
    expect.arrayContaining(['hold', 'last', 'asked', 'quiet', 'shares', 'granted', 'batch']),
  )
  await first.close()
  const changes = names.map((name) => `state.${name} = ${farAway}`)
  changes.push(`redis.call('HSET', KEYS[1], 'of ', ${farAway})`)
  changes.push(
    `redis.call('ZADD', KEYS[2], -${farAway}, '0')`,
    `redis.call('ZADD', KEYS[2], ${farAway}, 'slot*4')`,
  )
  const stuck = await Promise.all(
    changes.map(async (change, index) => {
      const prefix = `by-hand-${index}`
      const [one, other] = [joinFleet(prefix), joinFleet(prefix)]
      await Promise.all([call(one), call(other)])
      await changeByHand(prefix, change)
      const calls = Promise.all([one, other, one, other].map((tokens) => call(tokens))).then(() => [])
      const late = new Promise<string[]>((end) => setTimeout(end, 15_000, [change]))
      const result = await Promise.race([calls, late])
      await Promise.all([one.close(), other.close()])
      return result
    }),
  )
  expect(stuck.flat()).toEqual([])
})

test.each([undefined, 1e9])('a lock that ends in %s ms holds no process up', async (PX) => {
  const store = redisTokenStore({ client: redis.client })
  const name = `lock-${PX}`
  await redis.client.set(`tokenlane:{${name}}:lock`, 'by hand', PX === undefined ? {} : { PX })
  expect(await store.claim(name, undefined, 5_000)).toHaveProperty('fence')
  // one that a process may have written stands
  await redis.client.set(`tokenlane:{${name}}:lock`, 'by a process', { PX: 300_000 })
  expect(await store.claim(name, undefined, 5_000)).toBe('locked')
})
