// Long: real servers and connections that go while a client waits for a response, which some clients then never give.
import { once } from 'node:events'
import { Cluster, Redis } from 'ioredis'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { createClient, createCluster } from 'redis'
import { expect, test, vi } from 'vitest'
import { redisTokenStore } from '../src/index.ts'
import type { TestClient } from './clients.ts'
import { startBadNetwork } from './support/bad-network.ts'
import { startClusterOfOne } from './support/cluster-of-one.ts'
import { busyFleet } from './support/busy-fleet.ts'
import { pass } from './support/rate-fleet.ts'

const size = 4

interface Kind {
  readonly start: () => Promise<RedisServer>
  /** @param port of the network before the server. */
  readonly connect: (port: number, server: RedisServer) => Promise<TestClient>
}

const forgets = { autoResendUnfulfilledCommands: false }
const again = (): number => 50
const redisSocket = { reconnectStrategy: again }

const ioRedis = (options: object): Kind => ({
  start: startRedis,
  async connect(port) {
    const client = new Redis(port, { retryStrategy: again, ...options }).on('error', () => {})
    return Object.assign(client, { destroy: () => client.disconnect() })
  },
})

const clusterOfIoRedis = (options: object): Kind => ({
  start: startClusterOfOne,
  async connect(port, server) {
    const host = '127.0.0.1'
    const natMap = { [`${host}:${server.port}`]: { host, port } }
    const cluster = new Cluster([{ host, port }], { clusterRetryStrategy: again, natMap, ...options })
    cluster.on('error', () => {})
    return Object.assign(cluster, { destroy: () => cluster.disconnect() })
  },
})

const kinds: Readonly<Record<string, Kind>> = {
  'ioredis that sends again': ioRedis({}),
  'ioredis that sends nothing again': ioRedis(forgets),
  // ioredis#1718: such a client hangs commands over a reconnection
  'ioredis that tries again at once, for ever': ioRedis({
    retryStrategy: () => 1,
    maxRetriesPerRequest: null,
  }),
  'a Cluster of ioredis': clusterOfIoRedis({ redisOptions: forgets }),
  'a Cluster of ioredis whose nodes reconnect': clusterOfIoRedis({
    redisOptions: forgets,
    clusterNodeRetryStrategy: again,
  }),
  redis: {
    start: startRedis,
    connect: (port) =>
      createClient({ url: `redis://127.0.0.1:${port}`, socket: redisSocket })
        .on('error', () => {})
        .connect(),
  },
  'a Cluster of redis': {
    start: startClusterOfOne,
    async connect(port, server) {
      const cluster = createCluster({
        rootNodes: [{ url: `redis://127.0.0.1:${port}` }],
        defaults: { socket: redisSocket },
        nodeAddressMap: { [`127.0.0.1:${server.port}`]: { host: '127.0.0.1', port } },
      })
      await cluster.on('error', () => {}).connect()
      return cluster
    },
  },
}

test.concurrent.for(Object.keys(kinds))(
  '%s waits for a response when its server starts again: none is over, and the process comes back',
  async (kind, { onTestFinished }) => {
    const { start, connect } = kinds[kind] as Kind
    const server = await start()
    const network = await startBadNetwork(server.port)
    const near = Number(new URL(network.url).port)
    const clients = await Promise.all(
      Array.from({ length: size }, (_, index) => connect(index === 0 ? near : server.port, server)),
    )
    const fleet = busyFleet(clients)
    onTestFinished(async () => {
      await fleet[Symbol.asyncDispose]()
      for (const client of clients) client.destroy()
      await network[Symbol.asyncDispose]()
      await server.close()
    })
    await vi.waitFor(() => expect(fleet.result()).toMatchObject({ idle: 0 }))
    await pass(500)
    network.become({ hole: 'answers' })
    // a process reports what it has sent within a quarter of this
    await pass(300)
    await server.kill()
    network.become({ hole: 'nothing' })
    await server.restart()
    // by then each process has asked again, or sends its share
    await pass(6_000)
    const from = performance.now()
    await vi.waitFor(() => expect(fleet.result(from)).toMatchObject({ idle: 0 }))
    expect({ over: fleet.result().over, lost: fleet.lost }).toEqual({ over: 0, lost: 0 })
  },
)

test.concurrent.for(Object.keys(kinds))(
  '%s waits for the right to renew when its connection is cut: the right goes to another process soon, not when it ends',
  async (kind, { onTestFinished }) => {
    const { start, connect } = kinds[kind] as Kind
    const server = await start()
    const network = await startBadNetwork(server.port)
    const client = await connect(Number(new URL(network.url).port), server)
    const other = await connect(server.port, server)
    onTestFinished(async () => {
      for (const each of [client, other]) each.destroy()
      await network[Symbol.asyncDispose]()
      await server.close()
    })
    const [store, otherStore] = [redisTokenStore({ client }), redisTokenStore({ client: other })]
    const lease = 300_000
    await store.claim('before', undefined, lease)
    network.become({ hole: 'answers' })
    // core gives back a right that comes after it has given up
    const giveBack = (claim: unknown): unknown =>
      store.release('token', (claim as { fence: string }).fence, 0)
    void store.claim('token', undefined, lease).then(giveBack, () => {})
    await pass(300)
    expect(await otherStore.claim('token', undefined, lease)).toBe('locked')
    network.cut()
    network.become({ hole: 'nothing' })
    await vi.waitFor(async () =>
      expect(await otherStore.claim('token', undefined, lease)).toHaveProperty('fence'),
    )
  },
)

/** Closes a client, and opens it as soon as it lets that happen. */
async function reopen(client: TestClient): Promise<void> {
  const closed = client as unknown as Redis
  const ended = 'status' in closed ? once(closed, 'end') : undefined
  client.destroy()
  await ended
  await closed.connect()
}

test.concurrent.for(['ioredis that sends nothing again', 'redis'])(
  'the application closes its %s and opens it again, whatever is under way: none is over, none is lost',
  async (kind, { onTestFinished }) => {
    const { start, connect } = kinds[kind] as Kind
    const server = await start()
    const clients = await Promise.all(Array.from({ length: size }, () => connect(server.port, server)))
    const fleet = busyFleet(clients)
    onTestFinished(async () => {
      await fleet[Symbol.asyncDispose]()
      for (const client of clients) client.destroy()
      await server.close()
    })
    await vi.waitFor(() => expect(fleet.result()).toMatchObject({ idle: 0 }))
    for (let each = 0; each < 20; each += 1) {
      await pass(100 * Math.random())
      await reopen(clients[each % size] as TestClient)
    }
    const from = performance.now()
    await vi.waitFor(() => expect(fleet.result(from)).toMatchObject({ idle: 0 }))
    expect({ over: fleet.result().over, lost: fleet.lost }).toEqual({ over: 0, lost: 0 })
  },
)
