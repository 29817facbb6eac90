import {
  createTokenManager,
  type RatePolicy,
  type TokenManager,
  type TokenManagerOptions,
} from '@tokenlane/core'
import { createTenants } from '@tokenlane/core/tenants'
import { expect, test } from 'vitest'
import { redisLimiter } from '../src/index.ts'
import { useRedis } from './support/use-redis.ts'

const redis = useRedis()
const one = 'https://api.example.com/v1/'
const two = 'https://uploads.example.com/'
const window = 400

interface Call {
  readonly method: string
  readonly url: string
  readonly cost?: number
}

interface Arrival extends Call {
  readonly at: number
  readonly wall: number
}

/** At most `quota` of what `of` counts, in any window or in each second of the clock, for each value of `key`. */
interface Rule {
  readonly quota: number
  readonly of?: (call: Call) => number
  readonly key?: (call: Call) => string
  readonly isOfSecond?: boolean
}

interface Scene {
  /** By base URL. */
  readonly policies: Record<string, RatePolicy>
  readonly calls: readonly Call[]
  readonly rules: readonly Rule[]
  /** The status and headers of the answer to call number `index`. */
  readonly answer?: (index: number) => { readonly status?: number; readonly cost?: number }
}

const get = (url: string): Call => ({ method: 'GET', url })
const times = (count: number, ...calls: Call[]): Call[] => Array.from({ length: count }, () => calls).flat()

const scenes: Record<string, Scene> = {
  'one limit of two APIs': {
    policies: {
      [one]: { limits: [{ name: 'account', quota: 20, window }] },
      [two]: {
        limits: [
          { quota: 12, window },
          { name: 'account', quota: 20, window },
        ],
      },
    },
    calls: times(40, get(`${one}a`), get(`${two}a`)),
    rules: [{ quota: 20 }, { quota: 12, of: ({ url }) => (url.startsWith(two) ? 1 : 0) }],
  },
  'a limit of one method': {
    policies: {
      [one]: {
        limits: [
          { quota: 30, window },
          { quota: 5, window, match: 'POST' },
        ],
      },
    },
    calls: times(15, get(`${one}a`), { method: 'POST', url: `${one}a` }, get(`${one}b`)),
    rules: [{ quota: 30 }, { quota: 5, of: ({ method }) => (method === 'POST' ? 1 : 0) }],
  },
  'a limit for each value of a path': {
    policies: { [one]: { limits: [{ quota: 3, window, match: '/bases/:base/*' }] } },
    calls: times(9, ...['a', 'b', 'c', 'd', 'e'].map((base) => get(`${one}bases/${base}/rows`))),
    rules: [{ quota: 3, key: ({ url }) => url }],
  },
  'a window of the calendar': {
    policies: { [one]: { limits: [{ quota: 10, window: 'second' }] } },
    calls: times(25, get(`${one}a`)),
    rules: [{ quota: 10, isOfSecond: true }],
  },
  'calls that cost more than one': {
    policies: {
      [one]: { limits: [{ quota: 20, window }], cost: ({ method }) => (method === 'POST' ? 7 : 1) },
    },
    calls: times(10, get(`${one}a`), { method: 'POST', url: `${one}a` }, { ...get(`${one}a`), cost: 3 }),
    rules: [{ quota: 20, of: ({ method, cost = 1 }) => (method === 'POST' ? 7 : cost) }],
  },
  'calls that cost many units, and some that cost one': {
    policies: {
      [one]: {
        limits: [{ quota: 400, window }],
        cost: ({ method }) => (method === 'POST' ? 90 : 1),
      },
    },
    calls: times(15, get(`${one}a`), { method: 'POST', url: `${one}a` }),
    rules: [{ quota: 400, of: ({ method }) => (method === 'POST' ? 90 : 1) }],
  },
  'calls that cost less than one, or one and a half': {
    policies: { [one]: { limits: [{ quota: 10, window }] } },
    calls: times(20, { ...get(`${one}a`), cost: 0.5 }, { ...get(`${one}a`), cost: 1.5 }),
    rules: [{ quota: 10, of: ({ cost = 1 }) => cost }],
  },
}

/** What each process, or the tenants of each, is asked through. */
type Members = (options: TokenManagerOptions) => readonly TokenManager[]

const members: Record<string, Members> = {
  processes: (options) => [createTokenManager(options)],
  'tenants of processes': (options) => {
    const tenants = createTenants({ limits: 'shared', options: () => options })
    return ['a', 'b'].map((id) => tenants.get(id))
  },
}

let fleets = 0

/** Calls by two processes at once, and returns what arrived. */
async function play({ policies, calls, answer = () => ({}) }: Scene, membersOf: Members): Promise<Arrival[]> {
  const prefix = `policies${(fleets += 1)}`
  const arrivals: Arrival[] = []
  const callers = [0, 1].flatMap(() =>
    membersOf({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'client', clientSecret: 'secret' },
        },
      },
      apis: Object.entries(policies).map(([baseUrl, ratePolicy]) => ({
        baseUrl,
        issuer: 'general',
        ratePolicy,
      })),
      fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
      limiter: redisLimiter({ client: redis.client, prefix, fallbackShare: 0, timeout: 10_000 }),
    }),
  )
  const answered = await Promise.all(
    calls.map(async (call, index) =>
      callers[index % callers.length]?.route(call.url)?.send(async () => {
        const { status = 200, cost } = answer(arrivals.length)
        arrivals.push({ ...call, at: performance.now(), wall: Date.now() })
        await new Promise((resolve) => setTimeout(resolve, 5))
        const header = (name: string) => (name === 'x-cost' && cost !== undefined ? String(cost) : undefined)
        return { status, result: status, discard() {}, header }
      }, call),
    ),
  )
  expect(answered.every((status) => status === 200)).toBe(true)
  const [status] = (callers[0] as TokenManager).status().apis
  expect(status).toMatchObject({ queued: 0 })
  await Promise.all(callers.map((tokens) => tokens.close()))
  return arrivals
}

/** Returns the most that arrived of what a rule counts, for one value and in one window. */
function mostOf(
  arrivals: readonly Arrival[],
  { of = () => 1, key = () => '', isOfSecond = false }: Omit<Rule, 'quota'>,
  span = window,
): number {
  const together = (some: Arrival, other: Arrival): boolean =>
    isOfSecond
      ? Math.floor(some.wall / 1_000) === Math.floor(other.wall / 1_000)
      : other.at >= some.at && other.at < some.at + span
  return Math.max(
    ...arrivals.map((some) =>
      arrivals.reduce(
        (sum, other) => (key(some) === key(other) && together(some, other) ? sum + of(other) : sum),
        0,
      ),
    ),
  )
}

test.concurrent.each(
  Object.entries(members).flatMap(([who, membersOf]) =>
    Object.entries(scenes).map(([what, scene]) => [what, who, scene, membersOf] as const),
  ),
)('%s, shared by two %s: never over, and the quota is used', async (_, _who, scene, membersOf) => {
  const arrivals = await play(scene, membersOf)
  const shares = scene.rules.map((rule) => [mostOf(arrivals, rule), rule.quota] as const)
  for (const [most, quota] of shares) expect(most).toBeLessThanOrEqual(quota)
  expect(Math.max(...shares.map(([most, quota]) => most / quota))).toBeGreaterThan(0.6)
})

/** So long that a busy machine makes in it whatever need not wait for its end. */
const longWindow = 5_000

test.concurrent.each([1, 4_000])(
  'what a response says of its cost is settled for all processes, in units of %d',
  async (unit) => {
    const ratePolicy: RatePolicy = {
      limits: [{ quota: 40 * unit, window: longWindow }],
      cost: () => 10 * unit,
      actualCost: ({ header }) => Number(header('x-cost')),
    }
    const scene = { policies: { [one]: ratePolicy }, calls: times(8, get(`${one}a`)), rules: [] }
    const arrivals = await play(
      { ...scene, answer: () => ({ cost: 2 * unit }) },
      members['processes'] as Members,
    )
    // without the rest that is given back, four calls go in a window
    expect(mostOf(arrivals, {}, longWindow)).toBeGreaterThan(4)
  },
)

test.concurrent.each([
  [true, 3],
  [false, 4],
])(
  'a refused call counts for all processes where `countsRefused` is %s: a window has %d calls',
  async (countsRefused, most) => {
    const ratePolicy: RatePolicy = { limits: [{ quota: 3, window: longWindow }], countsRefused }
    const scene = { policies: { [one]: ratePolicy }, calls: times(3, get(`${one}a`)), rules: [] }
    const answer = (index: number) => ({ status: index === 0 ? 429 : 200 })
    const arrivals = await play({ ...scene, answer }, members['processes'] as Members)
    expect(arrivals).toHaveLength(4)
    // the refused one is sent again after a pause of a second, or after its window
    expect(mostOf(arrivals, {}, longWindow)).toBe(most)
  },
)

test('a limit for each of many customers leaves no more in the state of the API than for one, and no key for good', async () => {
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
      },
    },
    apis: [
      {
        baseUrl: one,
        issuer: 'general',
        ratePolicy: { limits: [{ quota: 5, window: 1_000, match: '/bases/:base/*' }] },
      },
    ],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
    limiter: redisLimiter({ client: redis.client, prefix: 'customers', fallbackShare: 1 }),
  })
  const call = async (base: number): Promise<unknown> => {
    const url = `${one}bases/${base}/records`
    return tokens
      .route(url)
      ?.send(async () => ({ status: 200, result: undefined, discard() {} }), { method: 'GET', url })
  }
  const sizeOfState = async (): Promise<number> =>
    (await redis.client.hGet(`customers:limiter:{${one}}:state`, 'state'))?.length ?? 0
  await call(0)
  const size = await sizeOfState()
  await Promise.all(Array.from({ length: 200 }, (_, base) => call(base)))
  await tokens.close()
  // numbers have more digits by then
  expect(await sizeOfState()).toBeLessThan(size + 100)
  const left = await Promise.all(
    (await redis.client.keys('customers:*')).map((key) => redis.client.pTTL(key)),
  )
  expect(left.length).toBeGreaterThan(200)
  expect(Math.min(...left)).toBeGreaterThan(0)
})
