// Long: clients set up as their users set them up, on servers that fail as those of others did.
import { Redis, type RedisOptions } from 'ioredis'
import { createClient, createClientPool } from 'redis'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { expect, test, vi } from 'vitest'
import { redisTokenStore } from '../src/index.ts'
import type { TestClient } from './clients.ts'
import { busyFleet } from './support/busy-fleet.ts'
import { pass } from './support/rate-fleet.ts'

const size = 4

type Connect = (url: string) => Promise<TestClient>

const ioRedis =
  (options: Omit<RedisOptions, 'replyMapping'>): Connect =>
  async (url) => {
    const port = Number(new URL(url).port)
    const client = new Redis({ port, retryStrategy: () => 50, ...options }).on('error', () => {})
    return Object.assign(client, { destroy: () => client.disconnect() })
  }

const nodeRedis =
  (options: Parameters<typeof createClient>[0], isConnected = true): Connect =>
  async (url) => {
    const client = createClient({ url, socket: { reconnectStrategy: 50 }, ...options }).on('error', () => {})
    const connecting = client.connect()
    connecting.catch(() => {})
    if (isConnected) await connecting
    return client
  }

const pool: Connect = async (url) => {
  const client = createClientPool({ url, socket: { reconnectStrategy: 50 } }, { minimum: 1, maximum: 3 })
  await client.on('error', () => {}).connect()
  return client
}

const clients: Readonly<Record<string, Connect>> = {
  'ioredis, as it is': ioRedis({}),
  'ioredis without an offline queue, not connected yet': ioRedis({ enableOfflineQueue: false }),
  'ioredis without retries': ioRedis({ maxRetriesPerRequest: 0 }),
  'ioredis with retries for ever, as BullMQ wants it': ioRedis({
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
  }),
  'ioredis with a time limit for commands': ioRedis({ commandTimeout: 300 }),
  'ioredis with a prefix for keys': ioRedis({ keyPrefix: '{shop}:' }),
  'ioredis with automatic pipelines': ioRedis({ enableAutoPipelining: true }),
  'ioredis that connects late': ioRedis({ lazyConnect: true }),
  'ioredis with numbers as text': ioRedis({ stringNumbers: true }),
  'ioredis that sends nothing again': ioRedis({ autoResendUnfulfilledCommands: false }),
  'redis without an offline queue, not connected yet': nodeRedis({ disableOfflineQueue: true }, false),
  'redis with RESP 2': nodeRedis({ RESP: 2 }),
  'redis with RESP 3': nodeRedis({ RESP: 3 }),
  'redis with a short queue': nodeRedis({ commandsQueueMaxLength: 20 }),
  'redis with a time limit for commands': nodeRedis({ commandOptions: { timeout: 300 } }),
  'a pool of redis': pool,
}

const happenings: Readonly<Record<string, (server: RedisServer, admin: Admin) => Promise<unknown>>> = {
  starts: async () => {},
  'loses its scripts again and again': async (_, admin) => {
    for (let time = 0; time < 5; time += 1) {
      await admin.scriptFlush()
      await pass(100)
    }
  },
  'closes all connections': (_, admin) =>
    admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']),
  'is a replica for a while': async (_, admin) => {
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    await pass(1_500)
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
  },
  'has no replica that it must have': async (_, admin) => {
    await admin.configSet('min-replicas-to-write', '1')
    await pass(1_500)
    await admin.configSet('min-replicas-to-write', '0')
  },
  'evicts what was not used lately': async (_, admin) => {
    const used = /used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]
    await admin.configSet({ maxmemory: String(Number(used) - 1_000), 'maxmemory-policy': 'allkeys-lru' })
    await pass(1_000)
    await admin.configSet({ maxmemory: '0' })
  },
  'lets nobody write for a while': (_, admin) => admin.sendCommand(['CLIENT', 'PAUSE', '1500', 'WRITE']),
  'starts again': async (server) => {
    await server.kill()
    await server.restart()
  },
}

type Admin = Awaited<ReturnType<typeof adminOf>>

const adminOf = async (server: RedisServer) =>
  createClient({ url: server.url, socket: { reconnectStrategy: 50 } })
    .on('error', () => {})
    .connect()

test.concurrent.for(Object.keys(clients))(
  '%s, whatever its server does: none is over, none is lost, and all go on',
  async (kind, { onTestFinished }) => {
    const server = await startRedis()
    const connected = await Promise.all(
      Array.from({ length: size }, () => (clients[kind] as Connect)(server.url)),
    )
    const fleet = busyFleet(connected)
    const admin = await adminOf(server)
    onTestFinished(async () => {
      await fleet[Symbol.asyncDispose]()
      for (const client of [...connected, admin]) client.destroy()
      await server.close()
    })
    const count = (type: string): number => fleet.events.filter((event) => event.type === type).length
    for (const [fault, happen] of Object.entries(happenings)) {
      await happen(server, admin)
      await vi.waitFor(() => expect(count('limiter.recovered'), fault).toBe(count('limiter.failed')))
      const from = performance.now()
      await vi.waitFor(() => expect(fleet.result(from), fault).toMatchObject({ idle: 0 }))
      expect({ over: fleet.result().over, lost: fleet.lost }, fault).toEqual({ over: 0, lost: 0 })
      const store = redisTokenStore({ client: connected[0] as TestClient })
      const claim = await vi.waitFor(async () => store.claim(fault, undefined, 5_000))
      expect(claim, fault).toHaveProperty('fence')
      await store.write(fault, (claim as { fence: string }).fence, 'entry', 5_000)
      expect(await store.claim(fault, undefined, 5_000), fault).toMatchObject({ entry: 'entry' })
    }
  },
)
