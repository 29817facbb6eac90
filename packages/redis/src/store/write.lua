-- Writes an entry, if the process still has the right: KEYS[1] holds the entry, KEYS[2] the fence.
-- ARGV: the fence, the entry, its lifetime.
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[2])
return 1
