// KEYS[1] holds the entry, KEYS[2] the lock: the fence of the process that asks the issuer now. Each script is
// atomic; together they are the contract of core's TokenStore.

/**
 * ARGV: the stale entry or nothing, a new fence, the lease. A lock without an end is nobody's, and is replaced. A
 * client that lost the answer may ask again by itself: the lock is then its own.
 */
export const claim = `
local entry = redis.call('GET', KEYS[1])
if entry and entry ~= '' and entry ~= ARGV[1] then return { 'entry', entry, redis.call('PTTL', KEYS[1]) } end
if redis.call('PTTL', KEYS[2]) == -1 then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3])
if redis.call('GET', KEYS[2]) == ARGV[2] then return { 'fence', ARGV[2] } end
return { 'locked' }
`

/** ARGV: the fence, the entry, its lifetime. */
export const write = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[2])
return 1
`

/** ARGV: the fence, the pause; an end that is now or past removes the lock. */
export const release = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[2], ARGV[2])
`

/** ARGV: the entry. */
export const drop = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`
