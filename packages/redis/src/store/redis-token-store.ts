import {
  Countdown,
  type SharedStore,
  sharedStore,
  type StoreClaim,
  type StoreKey,
  type TokenStore,
} from '@tokenlane/core/fleet'
import { reasonOf } from '../failure-reason.ts'
import { readOptions } from '../options.ts'
import { run, runScript, type RedisClient, type Script, textOf } from '../redis-client.ts'
import { serverFacts } from '../server-facts.ts'
import * as scripts from '../scripts.ts'

/** After how long core no longer waits for a claim, and some more, in milliseconds. */
const longestClaim = 2_000

/** Configures a shared token store. */
export interface RedisTokenStoreOptions {
  /**
   * A `redis` client (standalone, Sentinel or Cluster) or an ioredis client. The application connects and closes it.
   * Calls made while it is not connected work without the store.
   */
  readonly client: RedisClient
  /**
   * The prefix of every key; a non-empty string without braces, which are reserved for the hash tag that keeps one issuer's keys
   * together in a Cluster.
   *
   * @defaultValue 'tokenlane'
   */
  readonly prefix?: string | undefined
  /**
   * Encrypts the tokens of clients with an assertion from outside, which have no secret to derive a key from: text of
   * 32 characters or more, such as the output of `openssl rand -base64 32`. If there are several, the first encrypts and
   * any of them can decrypt, so keys can be rotated. A function is called before each use of the store.
   *
   * @defaultValue none: such clients are refused at start-up
   */
  readonly key?: StoreKey | undefined
}

/**
 * Returns a store that keeps a fleet's tokens in Redis 6.2 or later, or Valkey 8 or later. Any number of processes then
 * need only one token request per issuer and token lifetime.
 *
 * Redis sees neither tokens nor secrets: what it stores is encrypted with a key that only a holder of the client
 * secret, or of the `key` option, can derive, and it expires with the token.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, store: redisTokenStore({ client }) })
 * ```
 */
export function redisTokenStore(options: RedisTokenStoreOptions): SharedStore {
  // core checks the key
  const { client, prefix, key } = readOptions('Redis token store', options, {
    key: (value) => value as StoreKey | undefined,
  })
  const keysOf = (name: string): [string, string] => {
    const tag = `${prefix}:{${name}}`
    return [`${tag}:token`, `${tag}:lock`]
  }
  const sent = new Set<Script>()
  const call = async (script: Script, name: string, args: string[]): Promise<unknown> => {
    // the whole script once: a Redis that does not know it yet would cost every process a request more
    const first = !sent.has(script)
    sent.add(script)
    try {
      const keys = keysOf(name)
      return await (first ? run(client, script.text, keys, args) : runScript(client, script, keys, args))
    } catch (error) {
      // core passes the code of an error on
      throw Object.assign(new Error(), { code: reasonOf(error) })
    }
  }
  const store: TokenStore = {
    async claim(name, stale, lease) {
      const fence = globalThis.crypto.randomUUID()
      // Redis may have run the script although its reply was lost: a right that is not used holds up the others
      const giveBack = (): void => void call(scripts.release, name, [fence, '0']).catch(() => {})
      // some clients never say that a reply was lost
      const countdown = new Countdown(longestClaim, giveBack).unref()
      try {
        return readClaim(await call(scripts.claim, name, [stale ?? '', fence, whole(lease)]))
      } catch (error) {
        giveBack()
        throw error
      } finally {
        countdown.stop()
      }
    },
    write: (name, fence, entry, lifetime) => call(scripts.write, name, [fence, entry, whole(lifetime)]),
    release: (name, fence, pause) => call(scripts.release, name, [fence, String(Math.ceil(pause))]),
    drop: (name, entry) => call(scripts.drop, name, [entry]),
    server: () => serverFacts(client, `${prefix}:{server}`),
  }
  return sharedStore(store, { key })
}

/** Core refuses what is not a claim. */
function readClaim(reply: unknown): StoreClaim {
  const [kind, value, left] = (Array.isArray(reply) ? reply : []) as readonly unknown[]
  if (textOf(kind) === 'locked') return 'locked'
  if (textOf(kind) === 'fence') return { fence: textOf(value) }
  // -1: it has no end, so it was not written by a token store
  const expiresIn = Number(left)
  return { entry: textOf(value), ...(expiresIn >= 0 && { expiresIn }) }
}

/** Returns whole milliseconds, at least 1, as Redis requires. */
function whole(ms: number): string {
  return String(Math.max(1, Math.floor(ms)))
}
