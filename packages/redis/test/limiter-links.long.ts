// Long: bad networks, a Sentinel and a Redis Cluster.
import type { EventEmitter } from 'node:events'
import { Redis } from 'ioredis'
import { createClient, createSentinel } from 'redis'
import { expect, test, vi } from 'vitest'
import { type RedisClient, redisLimiter } from '../src/index.ts'
import { clientKinds, connectClient } from './clients.ts'
import { startBadNetwork } from './support/bad-network.ts'
import { connectCluster } from './support/cluster-of-one.ts'
import { startClusterOfThree } from './support/cluster-of-three.ts'
import { pass, RateFleet } from './support/rate-fleet.ts'
import { masterName, startSentinel } from './support/sentinel.ts'
import { useRedis } from './support/use-redis.ts'

// Links and topologies that change under a fleet, with real servers, and an API that counts strictly.

// all processes stand still together when this one does: long enough that they can say so in time
const limit = { quota: 40, window: 1_000 }
const redis = useRedis()

interface Shared {
  readonly prefix: string
  readonly client: (index: number) => RedisClient
  readonly fallbackShare?: number
}

function startFleet({ prefix, client, fallbackShare = 1 / 8 }: Shared): RateFleet {
  return new RateFleet({
    size: 8,
    limits: [limit],
    depth: 3,
    apiTime: () => 5 + 30 * Math.random(),
    limiter: (index) => redisLimiter({ client: client(index), prefix, fallbackShare, reconnectTime: 1_000 }),
  })
}

const count = (fleet: RateFleet, type: string): number =>
  fleet.events.filter((event) => event.type === type).length

/** Every process makes calls again, none was lost, and none was over. */
async function expectAllIsWell(fleet: RateFleet): Promise<void> {
  const from = performance.now()
  await vi.waitFor(() => expect(fleet.result(from)).toMatchObject({ idle: 0 }))
  expect({ over: fleet.result().over, lost: fleet.lost }).toEqual({ over: 0, lost: 0 })
}

/** A client that closes a connection on which nothing comes for a second. */
async function connectWatchful(kind: (typeof clientKinds)[number], url: string) {
  if (kind === 'ioredis') {
    const client = new Redis(url, { socketTimeout: 1_000, retryStrategy: () => 50 }).on('error', () => {})
    return Object.assign(client, { destroy: () => client.disconnect() })
  }
  const socket = { socketTimeout: 1_000, reconnectStrategy: 50 }
  const client = createClient({ url, pingInterval: 300, socket }).on('error', () => {})
  await client.connect()
  return client
}

test.concurrent.each(clientKinds)(
  'connections of %s that are half open: the clients notice, the processes come back, none is over, none is lost',
  async (kind) => {
    await using network = await startBadNetwork(redis.server.port)
    const far = await Promise.all([0, 1].map(() => connectWatchful(kind, network.url)))
    {
      await using fleet = startFleet({
        prefix: `half-open-${kind}`,
        client: (index) => far[index] ?? redis.client,
        // processes that are cut off alone would add their shares
        fallbackShare: 0,
      })
      await pass(2_000)
      const connected = far.map(
        (client) => new Promise((ready) => (client as EventEmitter).once('ready', ready)),
      )
      network.swallow()
      // on a busy machine a process may not have the time in which Redis is silent to it, or may have it twice
      await Promise.all(connected)
      await vi.waitFor(() => expect(count(fleet, 'limiter.recovered')).toBe(count(fleet, 'limiter.failed')))
      await expectAllIsWell(fleet)
    }
    for (const client of far) client.destroy()
  },
)

test.concurrent.each(clientKinds)(
  'a slot of a Cluster is moved under a fleet of %s, and for a second its scripts are refused with TRYAGAIN: none is over, none is lost',
  async (kind) => {
    await using cluster = await startClusterOfThree()
    const [server] = cluster.servers
    const client = await connectCluster(kind, server as (typeof cluster.servers)[0])
    {
      await using fleet = startFleet({ prefix: 'moved', client: () => client, fallbackShare: 0 })
      await pass(2_000)
      await cluster.moveSlot('moved:limiter:{https://api.example.com/}:state', 1_000)
      expect(await cluster.refusals('TRYAGAIN')).toBeGreaterThan(0)
      await expectAllIsWell(fleet)
      expect(count(fleet, 'limiter.recovered')).toBe(count(fleet, 'limiter.failed'))
    }
    client.destroy()
  },
)

test.concurrent.each(clientKinds)(
  'connections of %s that are half open, without a time limit: the processes go past them, and say so; none is over',
  async (kind) => {
    await using network = await startBadNetwork(redis.server.port)
    const far = await Promise.all([0, 1].map(() => connectClient(kind, network.url)))
    {
      await using fleet = startFleet({
        prefix: `never-${kind}`,
        client: (index) => far[index] ?? redis.client,
        fallbackShare: 0,
      })
      await pass(2_000)
      network.swallow()
      const saySo = (): unknown =>
        fleet.events.filter(({ reason }) => reason === 'half-open connection: set a socket timeout')
      await vi.waitFor(() => expect(saySo()).toHaveLength(2))
      await expectAllIsWell(fleet)
    }
    for (const client of far) client.destroy()
  },
)

async function connectBySentinel(kind: (typeof clientKinds)[number], port: number) {
  if (kind === 'ioredis') {
    const client = new Redis({ sentinels: [{ host: '127.0.0.1', port }], name: masterName })
    client.on('error', () => {})
    return Object.assign(client, { destroy: () => client.disconnect() })
  }
  const client = createSentinel({
    name: masterName,
    sentinelRootNodes: [{ host: '127.0.0.1', port }],
    scanInterval: 200,
  }).on('error', () => {})
  await client.connect()
  return client
}

test.concurrent.each(clientKinds)(
  'a Sentinel failover that loses the writes of a second under a fleet of %s: none is over, none is lost',
  async (kind) => {
    await using sentinel = await startSentinel()
    const client = await connectBySentinel(kind, sentinel.port)
    {
      await using fleet = startFleet({ prefix: 'sentinel', client: () => client })
      await pass(2_000)
      sentinel.cutReplica()
      await pass(1_000)
      await sentinel.master.kill()
      await vi.waitFor(() => expect(count(fleet, 'limiter.failed')).toBeGreaterThan(0))
      await vi.waitFor(() => expect(count(fleet, 'limiter.recovered')).toBe(count(fleet, 'limiter.failed')))
      await expectAllIsWell(fleet)
    }
    await client.destroy()
  },
)
