-- Gives the right back, after a pause: KEYS[2] holds the fence.
-- ARGV: the fence, the pause. A pause of 0 or less removes the lock.
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[2], ARGV[2])
