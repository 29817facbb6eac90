import { createHash } from 'node:crypto'
import type { Script } from './redis-client.ts'

// KEYS[1] holds the entry, KEYS[2] the lock: the fence of the process that asks the issuer now. Each script is
// atomic; together they are the contract of core's TokenStore. A channel wakes the processes that wait: its messages
// are `lifetime:entry` for an entry, `pause` for a lock that was given back. Without the right to publish no process is woken.

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/**
 * ARGV: the stale entry or nothing, a new fence, the lease. A lock without an end is replaced. A
 * client that lost the reply may send the script again by itself: it finds its own lock.
 */
export const claim: Script = script(`
local entry = redis.call('GET', KEYS[1])
if entry and entry ~= '' and entry ~= ARGV[1] then return { 'entry', entry, redis.call('PTTL', KEYS[1]) } end
if redis.call('PTTL', KEYS[2]) == -1 then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3])
if redis.call('GET', KEYS[2]) == ARGV[2] then return { 'fence', ARGV[2] } end
return { 'locked' }
`)

/** ARGV: the fence, the entry, its lifetime, the channel. */
export const write: Script = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[2])
redis.pcall('PUBLISH', ARGV[4], ARGV[3] .. ':' .. ARGV[2])
return 1
`)

/** ARGV: the fence, the pause, the channel; an end that is now or past removes the lock. */
export const release: Script = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.pcall('PUBLISH', ARGV[3], ARGV[2])
return 1
`)

/** ARGV: the entry. */
export const drop: Script = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`)
