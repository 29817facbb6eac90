import { createHash } from 'node:crypto'
import type { Script } from './redis-client.ts'

/**
 * One exchange between a process and the fleet's budget, atomic, on Redis' own clock, in milliseconds.
 *
 * - `settled`: units that come free one window after their score.
 * - `live`: how many units each process holds; its own word counts, so a lost answer leaves nothing behind.
 * - `alive`: until when each process is believed; whoever is silent longer has its units settled.
 * - `queue`, `due`: who waits, in the order of what each got, and when each was told to come back. A unit is left for
 *   everybody who is ahead, unless it is overdue.
 */
const text = `
local keys = { state = KEYS[1], settled = KEYS[2], live = KEYS[3], seen = KEYS[4], alive = KEYS[5], queue = KEYS[6], due = KEYS[7] }
local me, number, known, rejoins = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'
local held, wanted, pauses, interval = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local lease, patience, quiet = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local span, least, fewest = 0, math.huge, 1000000
local limits, arg = {}, 13
for index = 1, tonumber(ARGV[12]) do
  local limit = { quota = tonumber(ARGV[arg]), span = tonumber(ARGV[arg + 1]) }
  limits[index], arg = limit, arg + 2
  span, least, fewest = math.max(span, limit.span), math.min(least, limit.span), math.min(fewest, limit.quota)
end
-- a unit may be granted so early, with the wait that is left; and an overdue waiter is waited for so long
local early, grace = 6, 500

local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local function exact(value) return string.format('%.3f', value) end

if number <= tonumber(redis.call('HGET', keys.seen, me) or 0) then return { -1, 0, 0, 0, 0, '' } end

local names = { 'run', 'epoch', 'born', 'last', 'gap', 'hold', 'pause', 'next', 'ticket', 'live', 'span' }
local values, state = redis.call('HMGET', keys.state, unpack(names)), {}
for index, name in ipairs(names) do state[name] = values[index] end
local last = tonumber(state.last)
local gap, hold, pause = tonumber(state.gap or 0), tonumber(state.hold or 0), tonumber(state.pause or 0)
local next, ticket, live = tonumber(state.next or 0), tonumber(state.ticket or 0), tonumber(state.live or 0)
local born, epoch = tonumber(state.born or 0), state.epoch
span = math.max(span, tonumber(state.span or 0))

-- the clock was set back: what was noted by it tells nothing
local back = last and now < last - 1000
if back then
  redis.call('DEL', keys.settled, keys.alive, keys.queue, keys.due, keys.live)
  live, hold, pause, next, gap = 0, 0, 0, 0, 0
end
-- another server, or this one anew, or nothing is known: full for as long as there may be units that it knows not of
if not last or back or now - last > 20 then
  local info = redis.call('INFO', 'server')
  local run = string.match(info, 'run_id:(%w+)') or ''
  if back or state.run ~= run then
    local start = now - (tonumber(string.match(info, 'uptime_in_seconds:(%d+)')) or 0) * 1000 + 1000
    born, epoch = now, string.sub(run, 1, 8) .. exact(now)
    state.run = run
    hold = math.max(hold, ((last or known ~= '') and now or math.min(now, start)) + quiet)
  end
end
if known ~= '' and known ~= epoch then hold = math.max(hold, born + quiet) end
-- nobody was heard, perhaps for so long that all kept to their shares: after that the others need a moment to tell
-- what they sent meanwhile
if last and now - last > math.min(patience, quiet) / 2 then gap = now end
if rejoins and gap + patience > now then hold = math.max(hold, gap + patience) end

-- a Redis without memory refuses the first command that takes some, and none after it
redis.call('HSET', keys.state, 'last', exact(now))

for _, process in ipairs(redis.call('ZRANGEBYSCORE', keys.alive, '-inf', exact(now), 'LIMIT', 0, 100)) do
  local at = redis.call('ZSCORE', keys.alive, process)
  local units = tonumber(redis.call('HGET', keys.live, process) or 0)
  for unit = 1, units do redis.call('ZADD', keys.settled, at, process .. ':' .. at .. ':' .. unit) end
  live = live - units
  redis.call('HDEL', keys.live, process)
  redis.call('HDEL', keys.seen, process)
  redis.call('ZREM', keys.alive, process)
  redis.call('ZREM', keys.queue, process)
  redis.call('ZREM', keys.due, process)
end
for _, process in ipairs(redis.call('ZRANGEBYSCORE', keys.due, '-inf', exact(now - grace), 'LIMIT', 0, 100)) do
  redis.call('ZREM', keys.queue, process)
  redis.call('ZREM', keys.due, process)
end

for index = arg, #ARGV, 2 do
  redis.call('ZADD', keys.settled, 'NX', exact(now - tonumber(ARGV[index + 1])), me .. ':' .. ARGV[index])
end
redis.call('ZREMRANGEBYSCORE', keys.settled, '-inf', exact(now - span))
live = live + held - tonumber(redis.call('HGET', keys.live, me) or 0)
if pauses > 0 then pause = math.max(pause, now + pauses) end

-- when so many units are free, at the earliest, and whether that is sure
local used = {}
for index, limit in ipairs(limits) do
  used[index] = redis.call('ZCOUNT', keys.settled, '(' .. exact(now - limit.span), '+inf')
end
local function freeAt(units)
  local at, sure = math.max(now, hold, pause), true
  if interval > 0 then at = math.max(at, next + (units - 1) * interval) end
  for index, limit in ipairs(limits) do
    local rounds = math.floor((units - 1) / limit.quota)
    local place = units - rounds * limit.quota - (limit.quota - live - used[index])
    local from = now
    if place > used[index] then
      from, sure = now + limit.span, false
    elseif place > 0 then
      local found = redis.call('ZRANGEBYSCORE', keys.settled, '(' .. exact(now - limit.span), '+inf', 'WITHSCORES', 'LIMIT', place - 1, 1)
      from = tonumber(found[2]) + limit.span
    end
    at = math.max(at, from + rounds * limit.span)
  end
  return at, sure
end
local function free(most)
  local units = most
  if math.max(hold, pause) > now then return 0 end
  if interval > 0 then units = math.min(units, math.floor((now + early - math.max(now, next)) / interval) + 1) end
  for _, limit in ipairs(limits) do
    units = math.min(units, limit.quota - live - redis.call('ZCOUNT', keys.settled, '(' .. exact(now + early - limit.span), '+inf'))
  end
  return math.max(0, units)
end

local granted, delay, wait = 0, 0, 0
if wanted > 0 then
  local place = tonumber(redis.call('ZSCORE', keys.queue, me) or ticket + 1)
  redis.call('ZADD', keys.queue, place, me)
  local all = redis.call('ZCARD', keys.queue)
  local ahead = redis.call('ZRANK', keys.queue, me)
  local there = free(wanted * all)
  if there > ahead then
    granted = math.min(wanted, math.max(1, math.floor(there / all)))
    delay = math.max(0, freeAt(granted) - now)
    live = live + granted
    if interval > 0 then next = math.max(now, next) + granted * interval end
    -- who got more waits longer, but nobody for more than a round
    ticket = math.max(ticket, place)
    place = math.min(place + granted, ticket + math.max(1, math.ceil(fewest / all)))
    redis.call('ZADD', keys.queue, place, me)
    ahead = redis.call('ZRANK', keys.queue, me)
  end
  if wanted > granted then
    local at, sure = freeAt(ahead + 1)
    wait = at - now - 4
    -- what is not settled now is told within a quarter of a window, and comes free long after
    if not sure then wait = math.min(wait, math.max(least / 4, 1)) end
    wait = math.max(1, math.min(wait, math.max(1000, wait / 2)))
    redis.call('ZADD', keys.due, exact(now + wait), me)
  end
end
if wanted <= granted then
  redis.call('ZREM', keys.queue, me)
  redis.call('ZREM', keys.due, me)
end
if held + granted > 0 or wanted > granted then
  redis.call('HSET', keys.live, me, held + granted)
  redis.call('HSET', keys.seen, me, number)
  redis.call('ZADD', keys.alive, exact(now + lease), me)
else
  redis.call('HDEL', keys.live, me)
  redis.call('HDEL', keys.seen, me)
  redis.call('ZREM', keys.alive, me)
end
redis.call('HSET', keys.state, 'run', state.run, 'epoch', epoch, 'born', exact(born), 'gap', exact(gap), 'hold', exact(hold),
  'pause', exact(pause), 'next', exact(next), 'ticket', ticket, 'live', live, 'span', exact(span))
local kept = math.ceil(math.max(span, pause - now) + lease + 60000)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, kept) end

local soonest = math.max(0, freeAt(1) - now)
return { granted, math.ceil(delay * 1000), math.ceil(wait * 1000), math.floor(soonest * 1000), math.ceil(math.max(0, pause - now) * 1000), epoch }
`

export const limiterScript: Script = { text, sha: createHash('sha1').update(text).digest('hex') }
