import { duration, fitting, optional, type RateLimiterFactory } from '@tokenlane/core/fleet'
import { FleetLimiter } from './fleet-limiter.ts'
import { createExchange } from './exchange.ts'
import { linkOf } from './link.ts'
import { readOptions } from '../options.ts'
import type { RedisClient } from '../redis-client.ts'
import { serverFacts } from '../server-facts.ts'
import { processRuntime } from './runtime.ts'

/** Configures a fleet's limiter. */
export interface RedisLimiterOptions {
  /** A connected `redis` or ioredis client: standalone, Sentinel or Cluster. The application closes it. */
  readonly client: RedisClient
  /**
   * The prefix of all key names; a non-empty string without braces, which are reserved for the hash tag that keeps one API's keys
   * together in a Cluster. One fleet, one prefix: fleets that the API counts separately need their own.
   *
   * @defaultValue 'tokenlane'
   */
  readonly prefix?: string | undefined
  /**
   * The share of each quota, from 0 to 1, that this process uses while Redis cannot be reached: `1 / n` for `n`
   * processes. With 0, calls wait until Redis is back, so processes that are cut off send nothing.
   *
   * A share of less than one call lengthens the window instead: 3 a second at 1/8 becomes one call in 3.2 seconds.
   */
  readonly fallbackShare: number
  /**
   * How long Redis may take to respond, in milliseconds, above 0. After that, it counts as unreachable. A Redis that
   * usually takes longer may take two and a half times its usual round trip, at most 3.6 seconds.
   *
   * @defaultValue 500
   */
  readonly timeout?: number | undefined
  /**
   * How long a process may need to reach Redis again after an outage, in milliseconds, above 0: its client's longest
   * pause between two attempts, plus one attempt. Must be the same in every process.
   *
   * After an outage, Redis grants no unit for that long, so that every process can report what it has sent meanwhile. A
   * process that needs longer may exceed the budget once, by its own share.
   *
   * @defaultValue 6_000, enough for the default reconnection of `redis` (2.2 s) and ioredis (5.2 s)
   */
  readonly reconnectTime?: number | undefined
}

const others = {
  fallbackShare: fitting<number>((value) => value >= 0 && value <= 1, 'a number from 0 to 1'),
  timeout: optional(duration('above 0'), 500),
  // by default ioredis waits up to 5.2 s between attempts to connect, and redis up to 2.2 s
  reconnectTime: optional(duration('above 0'), 6_000),
}

/**
 * Creates limiters that share one rate budget among all processes with the same Redis, prefix and `baseUrl`.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming the option and what is allowed.
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, limiter: redisLimiter({ client, fallbackShare: 1 / 8 }) })
 * ```
 */
export function redisLimiter(options: RedisLimiterOptions): RateLimiterFactory {
  const { client, prefix, fallbackShare, timeout, reconnectTime } = readOptions('limiter', options, others)
  const link = linkOf(client)
  const create: RateLimiterFactory = (api) => {
    const name = globalThis.crypto.randomUUID().replaceAll('-', '').slice(0, 16)
    const exchange = createExchange(link, prefix, api.baseUrl)
    const runtime = processRuntime
    return new FleetLimiter(api, { exchange, link, name, fallbackShare, timeout, reconnectTime, runtime })
  }
  return Object.assign(create, { server: () => serverFacts(client, `${prefix}:{server}`) })
}
