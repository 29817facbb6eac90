-- Removes an entry, unless it was replaced: KEYS[1] holds the entry.
-- ARGV: the entry.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
