/** As much of a Redis client as the store needs: of `redis` (standalone, Sentinel or Cluster), or of ioredis. */
export type StoreClient = NodeRedis | IoRedis

/** `redis`, 5 and later. */
interface NodeRedis {
  evalSha: unknown
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** ioredis, 5 and later. */
interface IoRedis {
  evalsha: unknown
  eval(script: string, keys: number, ...args: string[]): Promise<unknown>
}

/** Runs a short script; the two clients differ in how they are told what is a key. */
export function run(client: StoreClient, script: string, keys: string[], args: string[]): Promise<unknown> {
  return 'evalSha' in client
    ? client.eval(script, { keys, arguments: args })
    : client.eval(script, keys.length, ...keys, ...args)
}

export function isStoreClient(value: unknown): value is StoreClient {
  if (typeof value !== 'object' || value === null) return false
  const { evalSha, evalsha, eval: evaluate } = value as Record<string, unknown>
  return typeof evaluate === 'function' && typeof (evalSha ?? evalsha) === 'function'
}
