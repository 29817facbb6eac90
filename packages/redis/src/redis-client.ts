/** The part of a `redis` (standalone, Sentinel or Cluster) or ioredis client that Tokenlane uses. */
export type RedisClient = NodeRedis | IoRedis

/** The connection of a client, as far as one of the kinds has it. */
export interface Connection {
  duplicate?(): Connection
  connect?(): Promise<unknown>
  on?(event: string, listener: (error: string) => void): unknown
  /** Of `redis`. */
  destroy?(): unknown
  /** Of ioredis. */
  disconnect?(): unknown
}

/** `redis`, 5 and later. */
interface NodeRedis {
  evalSha(sha: string, options: ScriptOptions): Promise<unknown>
  eval(script: string, options: ScriptOptions): Promise<unknown>
}

interface ScriptOptions {
  keys: string[]
  arguments: string[]
}

/** ioredis, 5 and later. */
interface IoRedis {
  evalsha: IoRedisCommand
  eval: IoRedisCommand
  createBuiltinCommand?(name: 'eval' | 'evalsha'): { readonly string: IoRedisCommand }
}

type IoRedisCommand = (script: string, keys: number, ...args: string[]) => Promise<unknown>

/** Runs a script by its text; the two clients differ in how the keys are given. */
export function run(client: RedisClient, script: string, keys: string[], args: string[]): Promise<unknown> {
  return 'evalSha' in client
    ? client.eval(script, { keys, arguments: args })
    : runByIoRedis(client, 'eval', script, keys, args)
}

/** Before 5.11, the automatic pipelines of a Cluster take the script for the key: a command made like this enters none. */
function runByIoRedis(
  client: IoRedis,
  name: 'eval' | 'evalsha',
  script: string,
  keys: string[],
  args: string[],
): Promise<unknown> {
  const command = client.createBuiltinCommand?.(name).string ?? client[name]
  return command.call(client, script, keys.length, ...keys, ...args)
}

export interface Script {
  readonly text: string
  /** SHA-1 of the text, in hexadecimal digits. */
  readonly sha: string
}

/** Runs a script by its name, and sends it only where Redis has not seen it. */
export async function runScript(
  client: RedisClient,
  script: Script,
  keys: string[],
  args: string[],
): Promise<unknown> {
  try {
    return await ('evalSha' in client
      ? client.evalSha(script.sha, { keys, arguments: args })
      : runByIoRedis(client, 'evalsha', script.sha, keys, args))
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return run(client, script.text, keys, args)
  }
}

export function isRedisClient(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false
  const { evalSha, evalsha, eval: evaluate, on } = value as Record<string, unknown>
  // clients over HTTP and those of other runtimes have an `evalsha` too, which takes its keys as a list
  const hasScripts =
    typeof evalSha === 'function' || [evalsha, on].every((each) => typeof each === 'function')
  return hasScripts && typeof evaluate === 'function'
}

/** Whether a client calls back instead of returning promises, as `client.legacy()` of `redis` does. */
export function isLegacyClient(client: RedisClient): boolean {
  const { sendCommand, connect } = client as { readonly sendCommand?: unknown; readonly connect?: unknown }
  return typeof sendCommand === 'function' && connect === undefined
}

/** Returns a reply that is text. A client may be configured to return bytes. */
export function textOf(reply: unknown): string {
  return reply instanceof Uint8Array ? new TextDecoder().decode(reply) : (reply as string)
}
