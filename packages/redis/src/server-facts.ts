import type { SharedServer } from '@tokenlane/core/fleet'
import { run, type RedisClient, textOf } from './redis-client.ts'
import * as scripts from './scripts.ts'

/**
 * Returns what the server that keeps `key` reports about itself. Does not read or write the key.
 *
 * @throws what the client throws where the server cannot be reached or refuses scripts.
 */
export async function serverFacts(client: RedisClient, key: string): Promise<SharedServer> {
  const sentAt = Date.now()
  const reply = await run(client, scripts.serverFacts.text, [key], [])
  // the server read its clock somewhere on the way
  const now = (sentAt + Date.now()) / 2
  const [seconds, microseconds, info = ''] = (reply as readonly unknown[]).map(textOf)
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  const valkey = field('valkey_version')
  const version = valkey ?? field('redis_version')
  return {
    id: field('run_id') ?? '',
    name: [valkey === undefined ? 'Redis' : 'Valkey', version].filter(Boolean).join(' '),
    clockOffset: now - (Number(seconds) * 1_000 + Number(microseconds) / 1_000),
    // without a limit the memory never counts as full
    evictionPolicy: field('maxmemory') === '0' ? 'noeviction' : field('maxmemory_policy'),
    ...(info === '' && { refused: 'INFO' }),
  }
}
