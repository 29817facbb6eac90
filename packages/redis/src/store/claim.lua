-- Returns the entry, or the right to write one: KEYS[1] holds the entry, KEYS[2] the fence of the process that has the right.
-- ARGV: the stale entry or nothing, a new fence, how long the right lasts. A lock without an end, or
-- with one further away than the longest pause of an issuer, is replaced. A client that lost the reply may send the script
-- again by itself: it finds its own lock.
local entry = redis.call('GET', KEYS[1])
if entry and entry ~= '' and entry ~= ARGV[1] then return { 'entry', entry, redis.call('PTTL', KEYS[1]) } end
local left = redis.call('PTTL', KEYS[2])
if left == -1 or left > math.max(300000, ARGV[3]) then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3])
if redis.call('GET', KEYS[2]) == ARGV[2] then return { 'fence', ARGV[2] } end
return { 'locked' }
