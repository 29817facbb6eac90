-- One exchange of a process with the budget of its fleet: atomic, on Redis' clock, in milliseconds.
-- A unit is a member of the sorted set of its series. Its score is the latest time at which its request can have arrived:
-- it counts in a limit for one span after that. A process lowers the score when it knows better. In a second set a member
-- stands for several units, `<id>*<units>`: those of a costly request, and those of long limits, by slots of time.
-- Member 0 of a set counts nowhere, and shows that no key was lost.
-- KEYS: the state, and until when the keys of each series live; then for each series its two sets, the waiting
-- processes, and until when each must be back.
local call, ask = redis.call, cjson.decode(ARGV[1])
local time = call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local readable, is = pcall(cmsgpack.unpack, call('HGET', KEYS[1], 'state') or '')
if not readable or type(is) ~= 'table' then is = {} end
local function key(series, part) return KEYS[4 * series - 3 + part] end
-- a server that may have forgotten units grants none until all of them are out of the window
local info = now - (is.last or 0) > 20 and redis.pcall('INFO', 'server')
local run = type(info) == 'string' and info:match('run_id:(%w+)') or is.run or ''
local isOther = not is.born or (is.run ~= '' and run ~= is.run) or now < is.last - 1000
if isOther or (ask.epoch == is.born and ask.turn > is.turn) then
  for _, word in pairs(is.words or {}) do word.at = 0 end
  is = { born = math.floor(now), last = now, turn = 0, members = 0, hold = now + ask.lifetime, asked = 0, quiet = now, shares = 0,
    granted = now, accepted = 0, refused = 0, batch = 0, trips = {}, words = is.words or {} }
end
now = math.max(now, is.last)
is.run, is.last, is.turn = run, now, is.turn + 1
local member = ask.member > 0 and ask.member or is.members + 1
is.members, is.accepted, is.refused = math.max(is.members, member), is.accepted + ask.accepted, is.refused + ask.refused
-- after a time in which no process was here, all keep to their own shares until each had time to report what it sent
local outage = ask.isRefused and now - math.max(is.asked, is.born) >= ask.outage
if outage or now - is.asked >= ask.reconnect then is.quiet = now end
if not ask.isAway then is.asked = now end
if outage or (ask.alone > 0 and now - ask.alone < is.quiet) then is.shares = is.quiet + ask.reconnect end
is.shares = math.min(is.shares, now + ask.reconnect)
is.hold = math.min(math.max(is.hold, is.shares), now + ask.reconnect + ask.lifetime)
-- round trips of this half minute, and of the one before
local period, none, trips = math.floor(now / 30000), { 1e9, 0, 0 }, ask.trips
local recent, earlier = is.trips[period] or none, is.trips[period - 1] or none
recent = { math.min(recent[1], trips[1]), recent[2] + trips[2], recent[3] + trips[3] }
is.trips = { [period] = recent, [period - 1] = earlier }
-- of each subject the word that holds longest counts; one that ends it is kept until others have heard it
for _, word in ipairs(ask.words) do
  local kept = is.words[word.about]
  word.at, word.by, word.ends = is.turn, ask.me, now + (word.ms == 0 and 10000 or word.ms)
  if word.ms == 0 or not kept or kept.ms == 0 or word.ends >= kept.ends then is.words[word.about] = word end
end
-- a process that knows no server, or another one, has heard nothing of this one
local before, heard = ask.epoch == is.born and ask.turn or ask.epoch == 0 and -1 or 0, {}
for about, word in pairs(is.words) do
  if word.ends <= now then is.words[about] = nil
  elseif word.at > before and word.by ~= ask.me then heard[#heard + 1] = { about, word.text, word.ms == 0 and 0 or word.ends - now } end
end
for _, unit in ipairs(ask.units) do
  local set, id, age = unpack(unit)
  if age then call('ZADD', KEYS[set], 'LT', now - age, id) else call('ZREM', KEYS[set], id) end
end
local function unitsOf(member) return tonumber(member:match('%*(%d+)$') or 1) end
for series, name in ipairs(ask.series) do
  local units, sums, slots = key(series, 1), key(series, 2), {}
  local isNew = call('ZADD', units, 'NX', 0, '0') + call('ZADD', sums, 'NX', 0, '0') > 0
  local isExpected = (tonumber(call('HGET', KEYS[1], 'of ' .. name) or 0) or 0) > now
  if isNew and isExpected then is.hold = math.max(is.hold, now + ask.lifetime) end
  call('HSET', KEYS[1], 'of ' .. name, now + ask.keep)
  for set, most in pairs({ [units] = 1000, [sums] = 200 }) do
    call('ZREMRANGEBYSCORE', set, '(0', now - ask.longest)
    call('ZREMRANGEBYSCORE', set, now + 3600000, '+inf')
    local isLong = ask.width > 0 and call('ZCARD', set) > most
    for _, id in ipairs(isLong and call('ZREVRANGEBYSCORE', set, now - ask.short, '(0', 'LIMIT', 0, 200) or {}) do
      local slot = math.ceil(call('ZSCORE', set, id) / ask.width) * ask.width
      if id:sub(1, 4) ~= 'slot' then slots[slot] = (slots[slot] or 0) + call('ZREM', set, id) * unitsOf(id) end
    end
  end
  for slot, count in pairs(slots) do
    for _, before in ipairs(call('ZRANGEBYSCORE', sums, slot, slot)) do
      count = count + call('ZREM', sums, before) * unitsOf(before)
    end
    call('ZADD', sums, slot, 'slot' .. slot .. '*' .. count)
  end
end
-- returns what the second set of a series holds, the newest first: each with its units, and how many come before
local lists = {}
local function sumsOf(series)
  if lists[series] then return lists[series] end
  local list, before = {}, 0
  local all = call('ZREVRANGEBYSCORE', key(series, 2), '+inf', '(0', 'WITHSCORES')
  for each = 1, #all, 2 do
    list[#list + 1] = { at = all[each + 1], units = unitsOf(all[each]), before = before }
    before = before + list[#list].units
  end
  lists[series] = list
  return list
end
-- returns the score of a unit, counted from the newest
local function nth(series, index)
  local units, sums, low, before = key(series, 1), sumsOf(series), 1, 0
  local high = #sums
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local sum = sums[middle]
    local newer = sum.before + call('ZCOUNT', units, '(' .. sum.at, '+inf')
    if index < newer then high = middle - 1
    elseif index < newer + sum.units then return tonumber(sum.at)
    else low, before = middle + 1, sum.before + sum.units end
  end
  return tonumber(call('ZREVRANGE', units, index - before, index - before, 'WITHSCORES')[2] or 0)
end
-- returns when so many units of each limit are free; expected, if units without a response get one as usual
local function freeAt(want, units, early)
  local due = math.max(now, is.hold)
  for _, limit in ipairs(want.limits) do
    local rounds = math.floor((units - 1) / limit.quota)
    local at = nth(limit.series, limit.quota - units + rounds * limit.quota)
    -- one whose response is late may be known at any time
    if early > 0 and at > now then at = math.max(at - early, now - limit.span * (7 - math.min(6, units / 10)) / 8) end
    if not limit.ends then due = math.max(due, at > 0 and at + limit.span or 0) + rounds * (limit.span + want.lag)
    elseif rounds > 0 or at > now - limit.span then due = math.max(due, now + limit.ends) end
  end
  return due
end
local replies = {}
for index, want in ipairs(ask.wants) do
  local sums, waiting, deadlines, cost, grants = key(want.queue, 2), key(want.queue, 3), key(want.queue, 4), want.cost, {}
  local gone = call('ZRANGEBYSCORE', deadlines, '-inf', now - 5000, 'LIMIT', 0, 100)
  for part = 3, #gone > 0 and 4 or 0 do call('ZREM', key(want.queue, part), unpack(gone)) end
  local place = want.isFirst and 0 or now + want.distance
  if want.wanted > 0 then call('ZADD', waiting, want.isFirst and 'LT' or 'NX', place, ask.me) end
  local before = math.max(0, (call('ZRANK', waiting, ask.me) or 0) - call('ZCOUNT', deadlines, '-inf', now))
  -- from when on the next unit may be granted lies below zero, as the score of member 0
  local all, due = math.max(1, call('ZCARD', waiting)), -call('ZSCORE', sums, '0')
  if due > now + ask.lifetime then due = 0 end
  local most = math.min(want.wanted, math.max(1, math.floor(want.share / all)), 100)
  while #grants < most and due + before * want.interval <= now + want.ahead do
    local units = (before + #grants + 1) * cost
    local free = math.max(due, freeAt(want, units, 0))
    if want.gather > 0 and free > is.batch + want.gather then
      free = math.max(free, math.min(free + want.gather, freeAt(want, units + (want.batch - 1) * cost, 0)))
    end
    if free > now + want.ahead then break end
    due, is.batch, is.granted, grants[#grants + 1] = free + want.interval, math.max(is.batch, free), now, free - now
    for _, set in ipairs(want.sets) do
      for _, member in ipairs(want.members) do
        call('ZADD', KEYS[set], free + want.bound, ask.id .. index .. '.' .. #grants .. member)
      end
    end
    if #want.members < cost then lists = {} end
  end
  call('ZADD', sums, -due, '0')
  local wait = 0
  if #grants == want.wanted then
    for part = 3, 4 do call('ZREM', key(want.queue, part), ask.me) end
  else
    local turn = now + 2.5 * want.distance * math.max(1, math.sqrt(all / want.share))
    if #grants > 0 and call('ZADD', waiting, turn, ask.me) then
      before = all > want.share and call('ZRANK', waiting, ask.me) or all - 1
    end
    wait = math.max(freeAt(want, (before + 1) * cost, want.bound - want.lag), due + before * want.interval) - now
    wait = math.max(wait - 0.8 * want.ahead, want.ahead / 4)
    call('ZADD', deadlines, now + wait + want.late, ask.me)
  end
  local used = {}
  for each, limit in ipairs(want.limits) do
    local from, sums = '(' .. now - limit.span, key(limit.series, 2)
    used[each] = call('ZCOUNT', key(limit.series, 1), from, '+inf')
    for _, sum in ipairs(call('ZRANGEBYSCORE', sums, from, '+inf')) do used[each] = used[each] + unitsOf(sum) end
  end
  replies[index] = { grants = grants, wait = wait, used = used, soonest = freeAt(want, cost, want.bound - want.lag) - now }
end
for index = 2, #KEYS do call('PEXPIRE', KEYS[index], ask.keep) end
for _, name in ipairs(call('HRANDFIELD', KEYS[1], 2)) do
  if name ~= 'state' and (tonumber(call('HGET', KEYS[1], name)) or 0) <= now then call('HDEL', KEYS[1], name) end
end
call('HSET', KEYS[1], 'state', cmsgpack.pack(is))
call('PEXPIRE', KEYS[1], 604800000)
return cjson.encode({
  epoch = is.born, turn = is.turn, member = member, clock = now, wants = replies, words = heard, trips = { recent, earlier },
  counts = { is.accepted, is.refused }, sharesFrom = is.granted + ask.lifetime - now, sharesUntil = is.shares - now,
})
