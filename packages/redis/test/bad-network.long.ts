// Long: networks that delay, cut and swallow.
import {
  type Api,
  createTokenManager,
  type RatePolicy,
  type TokenlaneEvent,
  type TokenManager,
  type TokenManagerOptions,
} from '@tokenlane/core'
import { describe, expect, test, vi } from 'vitest'
import { type RedisClient, redisLimiter, redisTokenStore } from '../src/index.ts'
import { type ClientKind, clientKinds, connectClient } from './clients.ts'
import { type BadNetwork, goodWeather, startBadNetwork, type Weather } from './support/bad-network.ts'
import { useRedis } from './support/use-redis.ts'

// Managers with a connection of their own stand for processes. Redis is real; what lies before it delays and cuts.
const size = 4
const patience = { interval: 10 }
const baseUrl = 'https://api.example.com/'

const redis = useRedis()

interface Member {
  readonly tokens: TokenManager
  readonly api: Api
  /** Of the store and of the limiter. */
  readonly events: TokenlaneEvent[]
}

interface FleetOptions extends Pick<TokenManagerOptions, 'store' | 'limiter'> {
  readonly ratePolicy?: RatePolicy
}

interface Fleet extends AsyncDisposable {
  readonly prefix: string
  readonly members: readonly Member[]
  /** So often the issuer was asked. */
  requests: number
}

let fleets = 0

/** What is shared is told by `options`. */
async function startFleet(
  kinds: readonly ClientKind[],
  network: BadNetwork,
  options: (client: RedisClient, prefix: string) => FleetOptions,
): Promise<Fleet> {
  const prefix = `fleet${(fleets += 1)}`
  const connecting = Array.from({ length: size }, (_, index) =>
    connectClient(kinds[index % kinds.length] ?? 'redis', network.url),
  )
  const clients = await Promise.all(connecting)
  const members = clients.map((client): Member => {
    const events: TokenlaneEvent[] = []
    const { ratePolicy, ...shared } = options(client, prefix)
    const credentials = { clientId: 'client', clientSecret: 'secret' }
    const tokens = createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials,
          // a right to ask that nobody knows of is there for longer than a test may take
          requestTimeout: 300_000,
          maxWait: 600_000,
        },
      },
      apis: [{ baseUrl, issuer: 'general', ...(ratePolicy && { ratePolicy }) }],
      fetch: async () => {
        fleet.requests += 1
        return Response.json({ access_token: `${fleet.requests}`, token_type: 'Bearer', expires_in: 3_600 })
      },
      observe(event) {
        if (/^(?:store|limiter)\./.test(event.type)) events.push(event)
      },
      ...shared,
    })
    return { tokens, api: tokens.route(baseUrl) as Api, events }
  })
  const fleet: Fleet = {
    prefix,
    members,
    requests: 0,
    async [Symbol.asyncDispose]() {
      network.become(goodWeather)
      await Promise.all(members.map(({ tokens }) => tokens.close()))
      for (const client of clients) client.destroy()
    },
  }
  return fleet
}

const typesOf = ({ events }: Member): string[] => events.map(({ type }) => type)

/** When each has told so, as the last thing. */
const all = ({ members }: Fleet, type: TokenlaneEvent['type']): Promise<void> =>
  vi.waitFor(() => {
    for (const { events } of members) expect(events.at(-1)?.type).toBe(type)
  }, patience)

describe.concurrent.each(clientKinds)('the store with %s', (kind) => {
  const startSharing = (network: BadNetwork): Promise<Fleet> =>
    startFleet([kind], network, (client, prefix) => ({ store: redisTokenStore({ client, prefix }) }))

  /** The first calls of each; how many came to nothing. */
  async function lostOfFirst({ members }: Fleet): Promise<number> {
    const calls = members.flatMap(({ tokens }) =>
      Array.from({ length: 200 }, () => tokens.getToken('general')),
    )
    const outcomes = await Promise.allSettled(calls)
    return outcomes.filter(({ status }) => status === 'rejected').length
  }

  /** A call whose token is refused, and which comes back with another. */
  const refused = ({ api }: Member): Promise<number> => {
    let attempts = 0
    return api.send(async () => {
      const status = (attempts += 1) === 1 ? 401 : 200
      return { status, result: status, discard() {} }
    })
  }

  const recovered = (member: Member): Promise<void> =>
    vi.waitFor(async () => {
      expect(await refused(member)).toBe(200)
      expect(member.events.at(-1)).toEqual({ type: 'store.recovered' })
    }, patience)

  test('delays of up to 100 ms: one token request for all', async () => {
    await using network = await startBadNetwork(redis.server.port)
    await using fleet = await startSharing(network)
    network.become({ delay: [0, 100] })
    expect(await lostOfFirst(fleet)).toBe(0)
    // on a machine that is busy an answer may take longer than a second all the same
    const late = fleet.members.flatMap(({ events }) => events)
    expect(fleet.requests).toBeLessThanOrEqual(1 + late.length)
    for (const event of late) expect(event).toEqual({ type: 'store.failed', reason: 'timeout' })
  })

  test.each<[string, Partial<Weather>, 'arrives' | 'is lost']>([
    ['answers that take longer than a second', { delay: [520, 560] }, 'arrives'],
    ['connections that are cut again and again', { cuts: 1 }, 'is lost'],
    ['a black hole, after which all arrives', { hole: 'all' }, 'arrives'],
    ['a black hole for answers, which are lost', { hole: 'answers' }, 'is lost'],
  ])('%s: each asks for itself, and the store is used again after', async (_, weather, underWay) => {
    await using network = await startBadNetwork(redis.server.port)
    await using fleet = await startSharing(network)
    network.become(weather)
    expect(await lostOfFirst(fleet)).toBe(0)
    expect(fleet.requests).toBe(size)
    for (const { events } of fleet.members)
      expect(events).toEqual([{ type: 'store.failed', reason: expect.any(String) as string }])
    if (underWay === 'is lost') network.cut()
    network.become(goodWeather)
    await Promise.all(fleet.members.map(recovered))
  })

  test('cut while the right to ask is on its way: nobody waits for who does not know of it', async () => {
    await using network = await startBadNetwork(redis.server.port)
    await using fleet = await startSharing(network)
    network.become({ hole: 'answers' })
    const losing = lostOfFirst(fleet)
    await vi.waitFor(
      async () => expect(await redis.client.keys(`${fleet.prefix}:*:lock`)).toHaveLength(1),
      patience,
    )
    network.cut()
    network.become(goodWeather)
    expect(await losing).toBe(0)
    for (const member of fleet.members) expect(await refused(member)).toBe(200)
  })
})

describe.concurrent('the limiter', () => {
  const quota = 20
  const startSharing = (network: BadNetwork, window: number, timeout?: number): Promise<Fleet> =>
    startFleet(clientKinds, network, (client, prefix) => ({
      ratePolicy: { limits: [{ quota, window }] },
      // the clients connect again at once; connections that are cut at random cut some attempts too
      limiter: redisLimiter({ client, prefix, fallbackShare: 1 / size, timeout, reconnectTime: 1_000 }),
    }))

  /** An API to which calls travel, and answers back; counts what arrives. */
  function startApi({ members }: Fleet) {
    const arrivals: number[] = []
    const travel = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
    const call = ({ api }: Member): Promise<number> =>
      api.send(async () => {
        await travel()
        arrivals.push(performance.now())
        await travel()
        return { status: 200, result: 200, discard() {} }
      })
    return {
      /** Calls of each at once. */
      make: (count: number) =>
        Promise.allSettled(members.flatMap((member) => Array.from({ length: count }, () => call(member)))),
      arrived: (count: number): Promise<void> =>
        vi.waitFor(() => expect(arrivals.length).toBeGreaterThanOrEqual(count), patience),
      /** The shortest time in which one more than the quota arrived. */
      shortest: () => Math.min(...arrivals.slice(quota).map((at, index) => at - (arrivals[index] ?? 0))),
    }
  }
  const lostOf = (outcomes: PromiseSettledResult<number>[]): number =>
    outcomes.filter(({ status }) => status === 'rejected').length

  test('delays of up to 100 ms: none is over', async () => {
    await using network = await startBadNetwork(redis.server.port)
    await using fleet = await startSharing(network, 300, 5_000)
    network.become({ delay: [0, 100] })
    const api = startApi(fleet)
    expect(lostOf(await api.make(20))).toBe(0)
    expect(api.shortest()).toBeGreaterThan(300)
    expect(fleet.members.flatMap(typesOf)).toEqual([])
  })

  test.each<[string, Partial<Weather>, 'arrives' | 'is lost']>([
    ['connections that are cut again and again', { cuts: 1 }, 'is lost'],
    ['a black hole, after which all arrives', { hole: 'all' }, 'arrives'],
    ['a black hole for answers, which are lost', { hole: 'answers' }, 'is lost'],
  ])('%s: none is over, none is lost', async (_, weather, underWay) => {
    await using network = await startBadNetwork(redis.server.port)
    await using fleet = await startSharing(network, 300)
    network.become({ delay: [0, 20] })
    const api = startApi(fleet)
    const making = api.make(25)
    await api.arrived(quota)
    network.become(weather)
    await all(fleet, 'limiter.failed')
    // by the shares of the processes, which Redis does not know of yet when it is asked again
    await api.arrived(quota + size)
    if (underWay === 'is lost') network.cut()
    network.become({ cuts: 0, hole: 'nothing' })
    expect(lostOf(await making)).toBe(0)
    await all(fleet, 'limiter.recovered')
    expect(api.shortest()).toBeGreaterThan(300)
  })

  test('connections cut at random: none is over, none is lost', async () => {
    await using network = await startBadNetwork(redis.server.port)
    // longer than a process needs to come back
    const window = 1_000
    await using fleet = await startSharing(network, window)
    network.become({ delay: [0, 20], cuts: 0.05 })
    const api = startApi(fleet)
    expect(lostOf(await api.make(15))).toBe(0)
    network.become({ cuts: 0 })
    expect(api.shortest()).toBeGreaterThan(window)
  })
})
