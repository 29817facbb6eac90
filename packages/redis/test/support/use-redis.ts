import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { afterAll, beforeAll } from 'vitest'

type Client = ReturnType<typeof createClient>

/** A Redis server for the tests of a file, and a client that looks into it; both are there once the tests begin. */
export function useRedis(start: () => Promise<RedisServer> = startRedis): {
  readonly server: RedisServer
  readonly client: Client
} {
  const used = {} as { server: RedisServer; client: Client }
  beforeAll(async () => {
    used.server = await start()
    used.client = createClient({ url: used.server.url })
    await used.client.connect()
  })
  afterAll(async () => {
    used.client.destroy()
    await used.server.close()
  })
  return used
}
