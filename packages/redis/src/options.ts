import {
  type Description,
  fitting,
  object,
  optional,
  type Reader,
  refuse,
  refusingTo,
} from '@tokenlane/core/fleet'
import { isLegacyClient, isRedisClient, type RedisClient } from './redis-client.ts'

interface Common {
  readonly client: RedisClient
  readonly prefix: string
}

const client: Reader<RedisClient> = (value, path) => {
  if (!isRedisClient(value))
    refuse(path, 'not a Redis client', 'a client from `redis` 5 or later, or from `ioredis` 5 or later')
  if (isLegacyClient(value))
    refuse(path, 'a client in legacy mode', 'the client whose `legacy()` returned it')
  return value
}
const prefix = fitting<string>(
  (value) => typeof value === 'string' && /^[^{}]+$/.test(value),
  'a non-empty string without braces',
)

/**
 * Returns the options of what is created: `client`, `prefix` and others.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`
 */
export function readOptions<Others extends object>(
  created: string,
  options: unknown,
  others: Description<Others>,
): Common & Others {
  const common: Description<Common> = { client, prefix: optional(prefix, 'tokenlane') }
  return refusingTo(`create ${created}`, () => {
    if (isRedisClient(options)) refuse('options', 'a Redis client', 'an object with `client`')
    return object<object>({ ...common, ...others })(options, 'options') as Common & Others
  })
}
