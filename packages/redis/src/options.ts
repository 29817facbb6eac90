import { TokenlaneError } from '@tokenlane/core/fleet'
import { isLegacyClient, isRedisClient, type RedisClient } from './redis-client.ts'

/**
 * Returns the options of what is created, with the default prefix.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` for an unknown option, and for a client or prefix that cannot be used.
 */
export function checkOptions<Options extends { client: RedisClient; prefix?: string | undefined }>(
  created: string,
  options: Options,
  names: readonly (keyof Options & string)[],
): Options & { prefix: string } {
  if (typeof options !== 'object' || options === null)
    refuse(created, 'options', 'not an object', `an object with ${names.join(', ')}`)
  if (isRedisClient(options)) refuse(created, 'options', 'a Redis client', 'an object with `client`')
  for (const name of Object.keys(options))
    if (!names.some((known) => known === name)) refuse(created, name, 'not an option', names.join(', '))
  // nothing that other code has added to every object
  const own = Object.assign(Object.create(null), options) as Options
  const { client, prefix = 'tokenlane' } = own
  if (!isRedisClient(client))
    refuse(
      created,
      'client',
      'not a Redis client',
      'a client from `redis` 5 or later, or from `ioredis` 5 or later',
    )
  if (isLegacyClient(client))
    refuse(created, 'client', 'a client in legacy mode', 'the client whose `legacy()` returned it')
  if (typeof prefix !== 'string' || !/^[^{}]+$/.test(prefix))
    refuse(created, 'prefix', 'unusable', 'a non-empty string without braces')
  return Object.assign(own, { prefix })
}

/** @throws TokenlaneError `INVALID_OPTIONS` */
export function refuse(created: string, option: string, fault: string, allowed: string): never {
  throw new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot create ${created}: \`${option}\` is ${fault}; allowed: ${allowed}`,
  )
}
