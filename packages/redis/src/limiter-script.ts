import { createHash } from 'node:crypto'
import type { Script } from './redis-client.ts'

/**
 * One exchange between a process and the fleet's budget: atomic, on Redis' clock, in milliseconds.
 *
 * The rule: a unit counts in a limit until one span after its response. A process states all its units with each
 * message, and Redis replaces what it stated before, so that a lost answer leaves nothing behind. A unit without a
 * response is presumed to be answered at a time that the process names; the process says so if it is not.
 *
 * What Redis keeps of an API:
 * - `state`, one value: the epoch, holds and pauses, and the units of all processes by limit and slot of time;
 * - `process`, one value for each process: what it stated last, and its place in the queue;
 * - `queue`: the waiting processes by their places; `deadlines`: until when each must be back to stay in it.
 *
 * Grants are made ahead: a process gets units with the times at which they are due, and does not ask again.
 */
const text = `
local keys = { state = KEYS[1], queue = KEYS[2], deadlines = KEYS[3], process = KEYS[4] }
local message = cjson.decode(ARGV[1])
local me, policy = message.process, message.policy
local limits, interval, horizon = policy.limits, policy.interval, policy.horizon

-- A slot is a hundredth of a span, so that memory does not grow with the quota.
local slots = 100
-- How long Redis keeps the state of an API without calls: an unknown API costs one quiet window.
local week = 604800000
-- What a process may be late by, at least, before it loses its place until it is back.
local lateness = 500
-- How often a process that waits for the end of a pause looks whether it was lifted.
local pauseLook = 2000

local function readClock()
  local time = redis.call('TIME')
  return time[1] * 1000 + time[2] / 1000
end

-- Names this run of the server; empty where INFO is not allowed.
local function readRun()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

local now = readClock()

local function read(key)
  local packed = redis.call('GET', key)
  local ok, value = pcall(cmsgpack.unpack, packed or '')
  return packed and ok and type(value) == 'table' and value or nil
end

local state = read(keys.state)
local lastHeard = state and state.heard or 0
local stated = read(keys.process)
if stated and state and stated.epoch ~= state.epoch then stated = nil end
if stated and message.number <= stated.number then return cjson.encode({ stale = true }) end

-- 1. Begin a new epoch where Redis does not know all that was granted: then nothing is granted for one window.

local function isForgotten(run)
  if not state then return true end
  local clockWasSetBack = now < state.last - 1000
  local writesWereLost = message.epoch == state.epoch and message.turn > state.turn
  local isAnotherServer = run ~= '' and state.run ~= '' and run ~= state.run
  return clockWasSetBack or writesWereLost or isAnotherServer
end

local function beginEpoch(run)
  local pause = state and state.pause < now + 86400000 and state.pause or 0
  state = {
    epoch = me .. ':' .. message.number, born = now, run = run, turn = 0, hold = now + policy.quiet, pause = pause,
    silenceEnd = now, heard = 0, next = 0, round = 0, members = 0, lag = message.lag, take = 1, used = {},
  }
  stated = nil
  return true
end

local run = (not state or now - state.last > 20) and readRun() or state.run
local isNew = isForgotten(run) and beginEpoch(run)
if state.run == '' then state.run = run end
state.turn, state.last = state.turn + 1, now
state.members = math.max(state.members, message.member)
local member = message.member
if member == 0 then
  state.members = state.members + 1
  member = state.members
end

-- 2. After a silence of all processes, wait until those that kept to their own shares have said what they sent.

-- A process that is away was not heard: its message may have arrived, and the answer not.
if now - lastHeard >= policy.rejoining then state.silenceEnd = now end
if not message.away then state.heard = now end

local function waitForOthers()
  local wasAloneInTheSilence = message.alone > 0 and now - message.alone < state.silenceEnd
  if wasAloneInTheSilence then state.hold = math.max(state.hold, state.silenceEnd + policy.rejoining) end
end
waitForOthers()

-- 3. Replace what the process stated before.

local function slotOf(limit, at) return math.ceil(at * slots / limit.span) end

-- A limit that Redis has not heard of is full for one window.
local function usedOf(limit)
  if not state.used[limit.key] then
    state.used[limit.key] = { span = limit.span, slots = {} }
    if not isNew then state.hold = math.max(state.hold, now + math.min(limit.span, policy.quiet)) end
  end
  local used = state.used[limit.key]
  used.heard = now
  return used.slots
end

local function add(limit, at, units)
  if at + limit.span <= now then return end
  local used, slot = usedOf(limit), slotOf(limit, at)
  local known = used[slot] or { 0, at }
  used[slot] = { known[1] + units, math.max(known[2], at) }
end

local function remove(limit, at, units)
  if at + limit.span <= now then return end
  local used, slot = usedOf(limit), slotOf(limit, at)
  local left = used[slot] and used[slot][1] - units or 0
  if left > 0 then used[slot][1] = left else used[slot] = nil end
end

local function forgetOldUnits()
  for key, used in pairs(state.used) do
    for slot, known in pairs(used.slots) do
      if known[2] + used.span <= now then used.slots[slot] = nil end
    end
    if used.heard and now - used.heard > used.span + 3600000 then state.used[key] = nil end
  end
end

local function stateUnits()
  local units = {}
  for index, limit in ipairs(limits) do
    local entries = {}
    for _, unit in ipairs(message.units[index] or {}) do
      local at = now - unit[1]
      entries[#entries + 1] = { at, unit[2] }
      add(limit, at, unit[2])
    end
    units[limit.key] = entries
  end
  return units
end

for _, limit in ipairs(limits) do
  usedOf(limit)
  for _, unit in ipairs(stated and stated.units[limit.key] or {}) do remove(limit, unit[1], unit[2]) end
end
forgetOldUnits()
local units = stateUnits()
if message.resume then state.pause = 0 end
if message.pause > 0 then state.pause = math.max(state.pause, now + message.pause) end
if message.lag > 0 then state.lag = state.lag * 0.9 + message.lag * 0.1 end

-- 4. Say when the n-th unit from now is due: for sure, or as expected if units under way are answered as usual.

local function answerOf(at, isExpected)
  local isPresumed = at > now + horizon + policy.longestPromise
  return isExpected and isPresumed and now + state.lag or at
end

local function freeingsOf(limit, isExpected)
  local list, free = {}, limit.quota
  for _, known in pairs(usedOf(limit)) do
    list[#list + 1] = { at = answerOf(known[2], isExpected) + limit.span, units = known[1] }
    free = free - known[1]
  end
  table.sort(list, function(one, other) return one.at < other.at end)
  return { list = list, free = free }
end

local function allFreeings(isExpected)
  local all = {}
  for index, limit in ipairs(limits) do all[index] = freeingsOf(limit, isExpected) end
  return all
end

local function freeAt(unit, freeings)
  local due = math.max(now, state.hold, state.pause)
  for index, limit in ipairs(limits) do
    local rounds = math.floor((unit - 1) / limit.quota)
    local missing = unit - rounds * limit.quota - freeings[index].free
    local at = now
    for _, freeing in ipairs(freeings[index].list) do
      if missing <= 0 then break end
      missing, at = missing - freeing.units, freeing.at
    end
    due = math.max(due, at + rounds * (limit.span + state.lag))
  end
  return due
end

local function dueOf(unit, freeings)
  local inTurn = math.max(now, state.hold, state.pause, state.next) + (unit - 1) * interval
  return math.max(freeAt(unit, freeings), inTurn)
end

local function roomBy(due, freeings)
  local room = math.huge
  for index in ipairs(limits) do
    local free = freeings[index].free
    for _, freeing in ipairs(freeings[index].list) do
      if freeing.at > due then break end
      free = free + freeing.units
    end
    room = math.min(room, free)
  end
  return room
end

-- 5. Grant units to the process, or tell it when to come back.

local function grant(most, freeings)
  local grants, granted = {}, 0
  while granted < most do
    local due = math.max(freeAt(granted + 1, freeings), state.next)
    if due > now + horizon then break end
    local count = 1
    if interval > 0 then state.next = due + interval
    else count = math.min(most, roomBy(due, freeings)) - granted end
    grants[#grants + 1] = { due - now, count }
    granted = granted + count
  end
  for _, each in ipairs(grants) do
    local at = now + each[1] + message.promise
    for _, limit in ipairs(limits) do
      add(limit, at, each[2])
      local entries = units[limit.key]
      entries[#entries + 1] = { at, each[2] }
    end
  end
  return grants, granted
end

local function fewest()
  local quota = 1000000
  for _, limit in ipairs(limits) do quota = math.min(quota, limit.quota) end
  return quota
end

-- Places are counted in units served: a process that got more waits for longer, and one that holds its units for
-- longer, because it is far from Redis, pays for that. In one round the first come is first.
local function placeOf(share)
  local place = stated and stated.place or 0
  if not (stated and stated.waiting) then
    place = math.max(state.round + 1 + state.turn % 1000000 / 1000000, place)
  end
  return math.min(place, state.round + 2 + share)
end

local function cost()
  local shortest = math.huge
  for _, limit in ipairs(limits) do shortest = math.min(shortest, limit.span) end
  if shortest == math.huge then return 1 end
  return math.max(1, 0.9 + message.lag / shortest)
end

local function aheadOf(place) return redis.call('ZCOUNT', keys.queue, '-inf', string.format('(%.7f', place)) end

local function waitFor(unit, others)
  local due = dueOf(unit, allFreeings(true))
  local lead = horizon / 2
  local wait = math.max(due - lead, state.hold) - now
  if state.pause > now then wait = math.min(wait, math.max(pauseLook, others * 20)) end
  return math.max(wait, horizon / 4)
end

local grants, granted, wait, place = {}, 0, 0, stated and stated.place
if message.wanted > 0 then
  local queued = not isNew and redis.call('ZSCORE', keys.queue, me) and 1 or 0
  local all = isNew and 1 or redis.call('ZCARD', keys.queue) + 1 - queued
  local share = math.max(1, math.floor(fewest() / all))
  place = placeOf(math.ceil(fewest() / all))
  local ahead = isNew and 0 or aheadOf(place)
  local unitsAhead = math.ceil(ahead * math.min(share, state.take))
  local freeings = allFreeings(false)
  if state.hold <= now and dueOf(unitsAhead + 1, freeings) <= now + horizon then
    grants, granted = grant(math.min(message.wanted, share), freeings)
  end
  if granted > 0 then
    state.take = state.take * 0.9 + granted * 0.1
    state.round = math.max(state.round, math.floor(place))
    place = place + granted * cost()
    ahead = isNew and 0 or aheadOf(place) - queued
  end
  if message.wanted > granted then wait = waitFor(math.ceil(ahead * math.min(share, state.take)) + 1, all) end
end
local waits = message.wanted > granted

-- 6. Write; where memory is short, Redis refuses the first of these, and nothing is changed.

local longest = 0
for _, limit in ipairs(limits) do longest = math.max(longest, limit.span) end
local kept = math.ceil(longest + wait + 120000)
local word = { epoch = state.epoch, number = message.number, units = units, place = place, waiting = waits }
redis.call('SET', keys.state, cmsgpack.pack(state), 'PX', math.ceil(math.max(week, kept)))
redis.call('SET', keys.process, cmsgpack.pack(word), 'PX', kept)
if isNew then redis.call('DEL', keys.queue, keys.deadlines) end
for _, late in ipairs(redis.call('ZRANGEBYSCORE', keys.deadlines, '-inf', string.format('%.3f', now), 'LIMIT', 0, 100)) do
  redis.call('ZREM', keys.deadlines, late)
  redis.call('ZREM', keys.queue, late)
end
if waits then
  redis.call('ZADD', keys.queue, string.format('%.7f', place), me)
  redis.call('ZADD', keys.deadlines, string.format('%.3f', now + wait + math.max(horizon, lateness)), me)
  redis.call('PEXPIRE', keys.queue, kept + 3600000)
  redis.call('PEXPIRE', keys.deadlines, kept + 3600000)
else
  redis.call('ZREM', keys.queue, me)
  redis.call('ZREM', keys.deadlines, me)
end
-- one of the two was lost: all processes come back by themselves, with their places
if redis.call('ZCARD', keys.queue) ~= redis.call('ZCARD', keys.deadlines) then
  redis.call('DEL', keys.queue, keys.deadlines)
end

return cjson.encode({
  epoch = state.epoch, turn = state.turn, member = member, grants = grants, wait = wait, now = now,
  soonest = math.max(0, dueOf(1, allFreeings(true)) - now), pause = math.max(0, state.pause - now),
})
`

export const limiterScript: Script = { text, sha: createHash('sha1').update(text).digest('hex') }
