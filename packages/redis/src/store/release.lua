-- Gives the right back, after a pause: KEYS[2] holds the fence.
-- ARGV: the fence, the pause, the channel. A pause of 0 or less removes the lock. Processes that wait get the pause.
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.pcall('PUBLISH', ARGV[3], ARGV[2])
return 1
