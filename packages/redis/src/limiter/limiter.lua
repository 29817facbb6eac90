-- One exchange between a process and the fleet's budget: atomic, on Redis' clock, in milliseconds.
--
-- The rule: a unit counts in a limit until one span after its response. A process states all its units with each
-- request, and Redis replaces what it stated before, so that a lost response leaves nothing behind. A unit without a
-- response is presumed to be answered at a time that the process names; the process reports it if it is not.
--
-- What Redis keeps of an API:
-- - `state`, one value: the epoch, holds and pauses, and the units of all processes by limit and slot of time;
-- - `process`, one value for each process: what it stated last, and its place in the queue;
-- - `queue`: the waiting processes by their places; `deadlines`: until when each must be back to stay in it.
--
-- Grants are made ahead: a process gets units with the times at which they are due, and does not ask again.
--
-- | state of the API | units are                                  | what leads to it                                    |
-- | ---------------- | ------------------------------------------ | --------------------------------------------------- |
-- | on hold          | not granted until `state.hold`             | a new epoch, a limit that is new, a process that    |
-- |                  |                                            | comes back after no process has reached Redis       |
-- | paused           | not granted until `state.pause`            | a process that reports it; another one may lift it  |
-- | used up          | not granted until `state.reset`, beyond    | a process whose response says that the API takes    |
-- |                  | `state.left`                               | less than the limits allow                          |
-- | open             | granted to processes in turn               | the end of all these                                |
--
-- The program is at the end; each function stands after those that it calls.

local keys = { state = KEYS[1], queue = KEYS[2], deadlines = KEYS[3], process = KEYS[4] }
local request = cjson.decode(ARGV[1])
local me, policy = request.process, request.policy
local limits, interval, horizon = policy.limits, policy.interval, policy.horizon

-- A slot is a hundredth of a span, so that memory does not grow with the quota.
local slots = 100
-- How long Redis keeps the state of an API without calls: an unknown API costs one window without calls.
local week = 604800000
-- What a process may be late by, at least, before it loses its place until it is back.
local lateness = 500
-- How often a process that waits for the end of a pause looks whether it was lifted.
local pauseLook = 2000
-- The same where the API said that nothing remains until its reset.
local resetLook = 30000
-- How long a unit without a response is presumed to be under way where nothing better is known.
local lease = 5000
-- For how long no process has reached Redis at least when one that it refuses takes it to be gone for all.
local shortestOutage = 900
-- For how long nothing may be granted at most, with windows up to a minute.
local longestHold = 62000
-- How many of the last response times are kept, and how many are needed.
local timesKept, timesNeeded = 30, 15

-- A batch of units that gather is sent once this part of the quota is free.
local batchOfQuota = 1 / 5
-- For how long round trips to the API count.
local tripsKept = 30000

-- The state of the API; what this process stated last; what it states now, by limit; its number in the fleet.
local state, stated, units, member
-- How long after its due time a new unit is presumed to be answered.
local promise
-- Whether the process shall report the next response.
local asks = false
-- Whether this request begins an epoch, and when the one before it arrived.
local isNew, lastRequestAt

-- Redis' clock in milliseconds.
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000

-- ## The limits of the policy.

--- Returns the shortest span, nil without limits.
local function shortest()
  local span
  for _, limit in ipairs(limits) do span = math.min(span or limit.span, limit.span) end
  return span
end

--- Returns the smallest quota.
local function fewest()
  local quota = 1000000
  for _, limit in ipairs(limits) do quota = math.min(quota, limit.quota) end
  return quota
end

--- Returns the limit that lets the fewest units pass in the long run.
local function narrowest()
  local found
  for _, limit in ipairs(limits) do
    if not found or limit.span / limit.quota > found.span / found.quota then found = limit end
  end
  return found
end

-- ## What Redis keeps.

--- Returns the name of this run of the server; empty where INFO is not allowed.
local function readRun()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

--- Returns the value of a key, nil for one that is lost or cannot be read.
local function read(key)
  local packed = redis.call('GET', key)
  local ok, value = pcall(cmsgpack.unpack, packed or '')
  return packed and ok and type(value) == 'table' and value or nil
end

--- Reads what Redis keeps; what a process stated in another epoch does not count.
local function readKeys()
  state = read(keys.state)
  lastRequestAt = state and state.requestedAt or 0
  stated = read(keys.process)
  if stated and state and stated.epoch ~= state.epoch then stated = nil end
end

-- ## When Redis knows all that was granted, and when it must wait before it grants more.

--- Returns whether Redis may have forgotten what it granted.
local function isForgotten(run)
  if not state then return true end
  local clockWasSetBack = now < state.last - 1000
  local writesWereLost = request.epoch == state.epoch and request.turn > state.turn
  local isAnotherServer = run ~= '' and state.run ~= '' and run ~= state.run
  return clockWasSetBack or writesWereLost or isAnotherServer
end

--- Begins an epoch: nothing is granted until all that was granted before is out of the window.
local function beginEpoch(run)
  local pause = state and state.pause < now + 86400000 and state.pause or 0
  state = {
    epoch = me .. ':' .. request.number, born = now, run = run, turn = 0, hold = now + policy.grantLifetime, pause = pause,
    silenceEnd = now, grantedAt = now, sharesUntil = 0, requestedAt = 0, next = 0, round = 0, members = 0, lag = request.lag, take = 1, times = {}, batchStart = 0, batchEnd = 0,
    promise = lease, roundTripsUntil = 0, served = 0, left = 0, reset = 0, paced = 0, asked = 0, reported = 0, used = {},
  }
  stated = nil
  isNew = true
end

--- Sees to it that the state is one that knows of all units, that time does not run back, and counts the request.
local function enterEpoch()
  local run = (not state or now - state.last > 20) and readRun() or state.run
  if isForgotten(run) then beginEpoch(run) end
  now = math.max(now, state.last or 0)
  if state.run == '' then state.run = run end
  state.turn, state.last = state.turn + 1, now
end

--- Returns the latest time that a process writes.
local function latestTime()
  local most = math.max(longestHold, policy.reconnectTime)
  for _, limit in ipairs(limits) do most = math.max(most, limit.span) end
  return now + most
end

--- Forgets times that no process writes: a value by hand must not stop the API for good.
local function forgetByHand()
  local latest = latestTime()
  if state.hold > latest then state.hold = now + policy.grantLifetime end
  if state.next > latest then state.next = 0 end
  if state.batchEnd > latest then state.batchStart, state.batchEnd = 0, 0 end
  if state.reset > latest then state.reset = 0 end
  if state.roundTripsUntil > latest then state.roundTripsUntil = 0 end
  if state.sharesUntil > latest then state.sharesUntil = 0 end
  state.silenceEnd = math.min(state.silenceEnd, now)
end

--- Gives the process a number, unless it has one.
local function numberMember()
  state.members = math.max(state.members, request.member)
  member = request.member
  if member == 0 then
    state.members = state.members + 1
    member = state.members
  end
end

--- After a time in which no process has reached Redis, waits until those that kept to their own shares have stated what
--- they sent. Meanwhile all keep to them.
local function waitForOthers()
  local longEnough = math.max(shortestOutage, policy.grantLifetime - policy.reconnectTime)
  local isOutage = request.refused and now - math.max(lastRequestAt, state.born) >= longEnough
  if isOutage or now - lastRequestAt >= policy.reconnectTime then state.silenceEnd = now end
  -- a process that is away has not got a response: its requests may have arrived, and the responses not
  if not request.away then state.requestedAt = now end
  local wasAloneInTheSilence = request.alone > 0 and now - request.alone < state.silenceEnd
  if isOutage or wasAloneInTheSilence then
    state.sharesUntil = state.silenceEnd + policy.reconnectTime
    state.hold = math.max(state.hold, state.sharesUntil)
  end
end

--- Begins, prolongs or lifts the pause of all; after it the fleet goes at an even pace, since the API takes less than the limits allow.
local function applyPause()
  if request.resume then state.pause, state.paced = 0, 0 end
  if request.pause > 0 then
    state.pause = math.max(state.pause, now + request.pause)
    state.paced = math.max(state.paced, state.pause + (shortest() or 0))
  end
end

-- ## The units of all processes, by limit and slot of time.

--- Returns the slot of a time.
local function slotOf(limit, at) return math.ceil(at * slots / limit.span) end

--- Returns the slots of a limit; one that is new to Redis is full for one window.
local function usedOf(limit)
  if not state.used[limit.key] then
    state.used[limit.key] = { span = limit.span, slots = {} }
    if not isNew then state.hold = math.max(state.hold, now + math.min(limit.span, policy.grantLifetime)) end
  end
  local used = state.used[limit.key]
  used.statedAt = now
  return used.slots
end

--- Counts units that are answered at a time.
local function add(limit, at, count)
  if at + limit.span <= now then return end
  local used, slot = usedOf(limit), slotOf(limit, at)
  local known = used[slot] or { 0, at }
  used[slot] = { known[1] + count, math.max(known[2], at) }
end

--- Counts units no longer.
local function remove(limit, at, count)
  if at + limit.span <= now then return end
  local used, slot = usedOf(limit), slotOf(limit, at)
  local left = used[slot] and used[slot][1] - count or 0
  if left > 0 then used[slot][1] = left else used[slot] = nil end
end

--- Forgets units that came free a window ago or are there by hand, and limits that no process has any more.
local function forgetOldUnits()
  local latest = latestTime()
  for key, used in pairs(state.used) do
    for slot, known in pairs(used.slots) do
      if known[2] + 2 * used.span <= now or known[2] > latest then used.slots[slot] = nil end
    end
    if used.statedAt and now - used.statedAt > used.span + 3600000 then state.used[key] = nil end
  end
end

--- Forgets what the process stated before.
local function removeStated()
  for _, limit in ipairs(limits) do
    usedOf(limit)
    for _, unit in ipairs(stated and stated.units[limit.key] or {}) do remove(limit, unit[1], unit[2]) end
  end
end

--- Puts what the process states now in the place of what it stated before: counts its units, by limit.
local function replaceStated()
  removeStated()
  forgetOldUnits()
  units = {}
  for index, limit in ipairs(limits) do
    local entries = {}
    for _, unit in ipairs(request.units[index] or {}) do
      local at = now - unit[1]
      entries[#entries + 1] = { at, unit[2] }
      add(limit, at, unit[2])
    end
    units[limit.key] = entries
  end
end

-- ## How long responses take, as far as all processes know.

--- Returns the promise that costs least, in time by which units come free later and in requests for late responses.
local function promiseOf(times)
  local span = math.min(shortest() or 60000, 60000)
  local sorted = { unpack(times) }
  table.sort(sorted)
  local best, least = lease, math.huge
  for index = #sorted, #sorted - math.floor(#sorted * 0.45), -1 do
    local each, lost = sorted[index] * 1.01 + 1, 0
    for _, time in ipairs(sorted) do lost = lost + math.max(0, each - time) / #sorted / span end
    local cost = lost + 0.04 * (#sorted - index) / #sorted
    local isAllowed = each < math.min(policy.longestPromise, span / 2) and lost <= 0.03
    if isAllowed and cost < least then best, least = each, cost end
  end
  return best
end

--- Takes the times that the process reports, and finds the promise of its new units: by its own times, or by all.
local function learnTimes()
  local times = state.times
  for _, time in ipairs(request.times) do times[#times + 1] = time end
  while #times > timesKept do table.remove(times, 1) end
  if #request.times > 0 and #times >= timesNeeded then state.promise = promiseOf(times) end
  promise = request.promise > 0 and request.promise or state.promise
  local lag = request.lag > 0 and request.lag or promise < lease and promise or 0
  if lag > 0 then state.lag = state.lag * 0.9 + lag * 0.1 end
end

--- Returns round trips of two kinds together: the shortest, their sum, and how many they are.
local function together(some, others)
  if some[3] == 0 then return others end
  if others[3] == 0 then return some end
  return { math.min(some[1], others[1]), some[2] + others[2], some[3] + others[3] }
end

--- Takes the round trips that the process reports; those of the last half minute count.
local function learnRoundTrips()
  if now >= state.roundTripsUntil then
    local none = { 0, 0, 0 }
    state.earlierTrips = now < state.roundTripsUntil + tripsKept and state.roundTrips or none
    state.roundTrips, state.roundTripsUntil = none, now + tripsKept
  end
  state.roundTrips = together(state.roundTrips, request.roundTrips)
end

-- ## When the n-th unit from now is due: for sure, or as expected if units under way are answered as usual.

--- Returns when a unit is answered: as stated, or as expected of one that is presumed to be under way.
local function responseOf(at, isExpected)
  local isPresumed = at > now + horizon + policy.longestPromise
  return isExpected and isPresumed and now + state.lag or at
end

--- Returns what is free in a limit, and when how many more units come free, earliest first.
local function freeingsOf(limit, isExpected)
  local list, free = {}, limit.quota
  for _, known in pairs(usedOf(limit)) do
    if known[2] + limit.span > now then
      list[#list + 1] = { at = responseOf(known[2], isExpected) + limit.span, units = known[1] }
      free = free - known[1]
    end
  end
  table.sort(list, function(one, other) return one.at < other.at end)
  return { list = list, free = free }
end

--- Returns the same for each limit.
local function allFreeings(isExpected)
  local all = {}
  for index, limit in ipairs(limits) do all[index] = freeingsOf(limit, isExpected) end
  return all
end

--- Returns how many units the API still takes before its reset.
local function leftBeforeReset() return state.reset > now and state.left or math.huge end

--- Returns how far apart units are due: as `spread` says; otherwise as the limits allow at an even pace, for a window
--- after a reset that the API made the fleet wait for. What it takes then is known only from the next responses. Expected
--- of units that are not granted yet: as far apart as the last ones were.
local function apart(isExpected)
  if interval > 0 or now >= state.paced or request.gather > 0 then return interval end
  local limit = narrowest()
  return limit and (limit.span + (isExpected and state.delay or 0)) / limit.quota or 0
end

--- Returns by how much a round takes longer than its span: as learned, or as long as units are presumed to be under way.
local function roundDelay()
  return state.delay or state.promise < lease and state.promise or state.lag
end

--- Returns when the n-th unit is free in every limit.
local function freeAt(unit, freeings)
  local due = math.max(now, state.hold, state.pause)
  if unit > leftBeforeReset() then due = math.max(due, state.reset) end
  -- later rounds begin when the first one has gone
  local from = due
  for index, limit in ipairs(limits) do
    local rounds = math.floor((unit - 1) / limit.quota)
    local missing = unit - rounds * limit.quota - freeings[index].free
    local at = from
    for _, freeing in ipairs(freeings[index].list) do
      if missing <= 0 then break end
      missing, at = missing - freeing.units, math.max(from, freeing.at)
    end
    due = math.max(due, at + rounds * (limit.span + roundDelay()))
  end
  return due
end

--- Returns when the n-th unit is free and, with pacing, far enough from the one before.
local function dueOf(unit, freeings)
  local from, left, inRow = math.max(now, state.hold, state.pause, state.next), leftBeforeReset(), unit
  if unit > left then from, inRow = math.max(from, state.reset), unit - left end
  return math.max(freeAt(unit, freeings), from + (inRow - 1) * apart(true))
end

--- Returns how many units are free by a time.
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

-- ## What the API still takes by its own headers, where that is less than the limits allow.

--- Returns how many units were sent after a time, for sure: the API had not counted them then.
local function sentSince(time)
  local roundTrip, most = state.promise < lease and state.promise or state.lag, 0
  for _, each in ipairs(state.times) do roundTrip = math.max(roundTrip, each) end
  for _, limit in ipairs(limits) do
    local count = 0
    for slot, known in pairs(usedOf(limit)) do
      local isPresumed = known[2] > now + horizon + policy.longestPromise
      local respondedAt = (slot - 1) * limit.span / slots
      if respondedAt - (isPresumed and lease or roundTrip) > time then count = count + known[1] end
    end
    most = math.max(most, count)
  end
  return most
end

--- Returns how many units came free since a time, in the limit in which they are most.
local function freedSince(time)
  local most = 0
  for _, limit in ipairs(limits) do
    local count = 0
    for _, known in pairs(usedOf(limit)) do
      local freeAt = known[2] + limit.span
      if freeAt > time and freeAt <= now then count = count + known[1] end
    end
    most = math.max(most, count)
  end
  return most
end

--- Keeps what the API still takes by a response, where that is less than the limits allow, or where the API begins to count
--- anew later. An API that keeps the policy and has no other client does neither: its reset in whole seconds would only
--- slow the fleet down.
local function applyReported()
  local remaining, resetIn, age, took = unpack(request.reported)
  if request.resume then state.reset = 0 end
  -- another process may have reported a later response, and an old response does not show what came free since
  local isOld = remaining and (now - age < state.reported or age > (shortest() or 60000) / 40)
  if not remaining or isOld then return end
  state.reset, state.reported = 0, now - age
  local freeings = allFreeings(false)
  local left = remaining - sentSince(now - age)
  -- the API may have counted as soon as the request was sent; what was sent in the same hundredth of a span is not known
  local isFewer = left + freedSince(now - age - took) + 1 + fewest() / 40 < roomBy(now, freeings)
  local isLater = now + resetIn > dueOf(1, freeings) + 1000
  if isFewer or isLater then state.left, state.reset = math.max(0, left), now + resetIn end
  if isFewer and left < 1 then state.paced = state.reset + (shortest() or 0) end
end

--- Returns whether the process shall report the next response: now and then one does, where the API says what remains.
local function asksForReport(granted)
  local span = shortest()
  if granted == 0 or not span or now < math.max(state.asked, state.reported) + span / 4 then return false end
  state.asked = now
  return true
end

-- ## In which order the waiting processes get units.

--- Returns what a unit costs of a place: more for a process that holds its units for longer, far from Redis.
local function cost()
  local span = shortest()
  return span and math.max(1, 0.75 + 1.5 * request.lag / span) or 1
end

--- Returns the place of the process: places are counted in units served, and in one round the first come is first.
local function placeOf(share)
  local place = stated and stated.place or 0
  if not (stated and stated.waiting) then
    place = math.max(state.round + 1 + state.turn % 1000000 / 1000000, place)
  end
  return math.min(place, state.round + 1 + share + cost())
end

--- Returns how many processes are before a place.
local function aheadOf(place) return redis.call('ZCOUNT', keys.queue, '-inf', string.format('(%.7f', place)) end

--- Returns when the process shall ask again, for the n-th unit from now.
local function waitFor(unit, others)
  local due = dueOf(unit, allFreeings(true))
  local lead = horizon / 2
  local wait = math.max(due - lead, state.hold) - now
  if state.pause > now then wait = math.min(wait, math.max(pauseLook, others * 20)) end
  if state.reset > now then wait = math.min(wait, math.max(resetLook, others * 2000)) end
  return math.max(wait, horizon / 4)
end

-- ## What a process gets: units ahead, or a time at which to ask again.

--- Returns when a unit that is free at a time is sent with others: it joins the last batch, or waits for a new one.
local function inBatch(unit, free, freeings)
  if request.gather == 0 or interval > 0 then return free end
  if free <= state.batchEnd + request.gather then return math.max(free, state.batchStart) end
  local isEnough = freeAt(unit + math.ceil(fewest() * batchOfQuota) - 1, freeings)
  return math.max(free, math.min(free + request.gather, isEnough))
end

--- Notes that units of a batch are due.
local function noteBatch(due)
  if due > state.batchEnd + request.gather then state.batchStart = due end
  state.batchEnd = math.max(state.batchEnd, due)
end

--- Returns units that are due within the horizon, and how many they are.
local function findUnits(most, freeings)
  local grants, granted = {}, 0
  while granted < most do
    local due = inBatch(granted + 1, math.max(freeAt(granted + 1, freeings), state.next), freeings)
    if due > now + horizon then break end
    noteBatch(due)
    local count = 1
    if apart() > 0 then state.next = due + apart()
    else
      local left = due < state.reset and leftBeforeReset() or most
      count = math.min(most, left, roomBy(due, freeings)) - granted
    end
    grants[#grants + 1] = { due - now, count }
    granted = granted + count
  end
  return grants, granted
end

--- Grants units: they count as if the process had stated them.
local function grant(most, freeings)
  local grants, granted = findUnits(most, freeings)
  for _, each in ipairs(grants) do
    -- the API will count these before its reset
    if now + each[1] < state.reset then state.left = state.left - each[2] end
    local at = now + each[1] + promise
    for _, limit in ipairs(limits) do
      add(limit, at, each[2])
      local entries = units[limit.key]
      entries[#entries + 1] = { at, each[2] }
    end
  end
  return grants, granted
end

--- Returns when the n-th unit of grants is due.
local function dueIn(grants, unit)
  for _, each in ipairs(grants) do
    unit = unit - each[2]
    if unit <= 0 then return now + each[1] end
  end
end

--- Learns, while processes wait, by how much a round of the narrowest limit takes longer than its span.
local function learnDelay(grants, granted, all)
  local limit, mark = narrowest(), state.mark
  if not limit then return end
  local before = state.served
  state.served = before + granted
  -- half a turn of all processes, in whole rounds: units of a round often come at once
  local rounds = math.ceil(all / limit.quota / 2)
  local unit = mark and mark.key == limit.key and mark.served + rounds * limit.quota - before or 0
  if unit > granted then return end
  local due = dueIn(grants, math.max(1, unit))
  local delay = unit > 0 and (due - mark.due) / rounds - limit.span or 0
  -- a longer one is a pause of the processes, not of the limit, unless the API says that nothing remains
  local isPaced = now < state.paced
  if not isPaced and state.delay and state.delay >= limit.span / 4 then state.delay = nil end
  if delay > 0 and (isPaced or delay < limit.span / 4) then state.delay = ((state.delay or state.lag) + delay) / 2 end
  state.mark = { key = limit.key, due = due, served = before + math.max(1, unit) }
end

--- Serves the process if its turn has come: returns grants, when to ask for the rest, its place and whether it waits.
local function serve()
  if request.wanted == 0 then return {}, 0, stated and stated.place, false end
  local queued = not isNew and redis.call('ZSCORE', keys.queue, me) and 1 or 0
  local all = isNew and 1 or redis.call('ZCARD', keys.queue) + 1 - queued
  local share = math.max(1, math.floor(fewest() / all))
  local place = placeOf(math.ceil(fewest() / all))
  local ahead = isNew and 0 or aheadOf(place)
  local unitsAhead = math.ceil(ahead * math.min(share, state.take))
  local freeings = allFreeings(false)
  local grants, granted = {}, 0
  if state.hold <= now and dueOf(unitsAhead + 1, freeings) <= now + horizon then
    -- where several processes wait, those with warm connections go first: a set-up makes a unit count for longer
    local most = all > 1 and math.max(request.warm, math.ceil(share / 4)) or share
    grants, granted = grant(math.min(request.wanted, share, most), freeings)
  end
  if granted > 0 then
    learnDelay(grants, granted, all)
    state.take, state.grantedAt = state.take * 0.9 + granted * 0.1, now
    state.round = math.max(state.round, math.floor(place))
    place = place + granted * cost()
    ahead = isNew and 0 or aheadOf(place) - queued
  end
  asks = asksForReport(granted)
  if request.wanted <= granted then return grants, 0, place, false end
  return grants, waitFor(math.ceil(ahead * math.min(share, state.take)) + 1, all), place, true
end

-- ## What Redis keeps of a request, and its response.

--- Returns for how long the keys of the process are needed.
local function keptFor(wait)
  local longest = 0
  for _, limit in ipairs(limits) do longest = math.max(longest, limit.span) end
  return math.ceil(longest + wait + 120000)
end

--- Writes state and statement; where memory is short, Redis refuses the first, and nothing is changed.
local function writeState(kept, place, waits)
  local record = { epoch = state.epoch, number = request.number, units = units, place = place, waiting = waits }
  redis.call('SET', keys.state, cmsgpack.pack(state), 'PX', math.ceil(math.max(week, kept)))
  redis.call('SET', keys.process, cmsgpack.pack(record), 'PX', kept)
end

--- Takes processes out of the queue that did not come back in time; a new epoch begins with an empty queue.
local function leaveLate()
  if isNew then redis.call('DEL', keys.queue, keys.deadlines) end
  local late = redis.call('ZRANGEBYSCORE', keys.deadlines, '-inf', string.format('%.3f', now), 'LIMIT', 0, 100)
  for _, each in ipairs(late) do
    redis.call('ZREM', keys.deadlines, each)
    redis.call('ZREM', keys.queue, each)
  end
end

--- Puts the process into the queue, or takes it out.
local function writeQueue(kept, wait, place, waits)
  if waits then
    redis.call('ZADD', keys.queue, string.format('%.7f', place), me)
    redis.call('ZADD', keys.deadlines, string.format('%.3f', now + wait + math.max(horizon, lateness)), me)
    redis.call('PEXPIRE', keys.queue, kept + 3600000)
    redis.call('PEXPIRE', keys.deadlines, kept + 3600000)
  else
    redis.call('ZREM', keys.queue, me)
    redis.call('ZREM', keys.deadlines, me)
  end
end

--- Drops the queue where one of its two keys was lost: all processes come back by themselves, with their places.
local function mendQueue()
  if redis.call('ZCARD', keys.queue) ~= redis.call('ZCARD', keys.deadlines) then
    redis.call('DEL', keys.queue, keys.deadlines)
  end
end

--- Returns the part of the fullest limit that is used, and how many units are free now.
local function levels(freeings)
  local used, left = 0, math.min(leftBeforeReset(), 1000000000)
  for index, limit in ipairs(limits) do
    local free = math.max(0, freeings[index].free)
    used, left = math.max(used, 1 - free / limit.quota), math.min(left, free)
  end
  if math.max(state.hold, state.pause) > now then left = 0 end
  return used, left
end

--- Returns the response to the request.
local function respond(grants, wait)
  local freeings = allFreeings(true)
  local used, left = levels(freeings)
  return cjson.encode({
    epoch = state.epoch, turn = state.turn, member = member, grants = grants, wait = wait, now = now,
    promise = promise, used = used, left = left, asks = asks, roundTrips = together(state.roundTrips, state.earlierTrips),
    soonest = math.max(0, dueOf(1, freeings) - now), pause = math.max(0, state.pause - now),
    sharesFrom = math.max(0, state.grantedAt + policy.grantLifetime - now), sharesUntil = math.max(0, state.sharesUntil - now),
  })
end

-- ## What happens to a request, from top to bottom.

readKeys()
-- Redis has seen this request, or a later one
if stated and request.number <= stated.number then return cjson.encode({ stale = true }) end

enterEpoch()
forgetByHand()
numberMember()
waitForOthers()
replaceStated()
applyPause()
learnTimes()
learnRoundTrips()
applyReported()

local grants, wait, place, waits = serve()

local kept = keptFor(wait)
writeState(kept, place, waits)
leaveLate()
writeQueue(kept, wait, place, waits)
mendQueue()
return respond(grants, wait)
