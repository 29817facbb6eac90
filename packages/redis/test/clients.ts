import { Redis } from 'ioredis'
import type { RedisServer } from '@tokenlane/testing/redis-server'
import { createClient, RESP_TYPES } from 'redis'
import type { RedisClient } from '../src/index.ts'
import { connectCluster } from './support/cluster-of-one.ts'

/** The Redis clients that people have. */
export const clientKinds = ['redis', 'ioredis'] as const
export type ClientKind = (typeof clientKinds)[number]

/** A client of a test, which the test ends. */
export type TestClient = RedisClient & { destroy(): void }

/** A connected client that comes back by itself, and is as quiet as one whose errors are heard. */
export async function connectClient(kind: ClientKind, url: string): Promise<TestClient> {
  if (kind === 'redis') {
    const client = createClient({ url, socket: { reconnectStrategy: 50 } })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { destroy: () => client.disconnect() })
}

/** Every way to connect to a server that is a cluster of one, by its name. */
export function connectionsTo(
  server: () => RedisServer,
): Readonly<Record<string, () => Promise<TestClient>>> {
  return {
    redis: () => connectClient('redis', server().url),
    ioredis: () => connectClient('ioredis', server().url),
    'a cluster of redis': () => connectCluster('redis', server()),
    'a cluster of ioredis': () => connectCluster('ioredis', server()),
    async 'redis set to give bytes'() {
      const client = createClient({ url: server().url })
      await client.connect()
      return Object.assign(client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }), {
        destroy: () => client.destroy(),
      })
    },
  }
}
