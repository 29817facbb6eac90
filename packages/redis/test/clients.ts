import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { RedisClient } from '../src/index.ts'

/** The Redis clients that people have. */
export const clientKinds = ['redis', 'ioredis'] as const
export type ClientKind = (typeof clientKinds)[number]

/** A connected client that comes back by itself, and is as quiet as one whose errors are heard. */
export async function connectClient(
  kind: ClientKind,
  url: string,
): Promise<RedisClient & { destroy(): void }> {
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
