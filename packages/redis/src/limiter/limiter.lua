-- One exchange of a process with the budget of its fleet: atomic, on Redis' clock, in milliseconds.
-- A unit is a member of the sorted set of its series. Its score is the latest time at which its request can have arrived:
-- it counts in a limit for one span after that. A process lowers the score when it knows better. Each set has a member
-- that counts nowhere (0), so that a lost set shows. Units of long limits are counted together, by slots of time.
-- KEYS: the state; then for each series its units, its slots, the waiting processes, and until when each must be back.
local call, ask = redis.call, cjson.decode(ARGV[1])
local time = call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local readable, is = pcall(cmsgpack.unpack, call('GET', KEYS[1]) or '')
if not readable or type(is) ~= 'table' then is = {} end
local function key(series, part) return KEYS[4 * series - 3 + part] end
-- a server that may have forgotten units grants none until all of them are out of the window
local info = now - (is.last or 0) > 20 and redis.pcall('INFO', 'server')
local run = type(info) == 'string' and info:match('run_id:(%w+)') or is.run or ''
local isOther = not is.born or (is.run ~= '' and run ~= is.run) or now < is.last - 1000
if isOther or (ask.epoch == is.born and ask.turn > is.turn) then
  for _, word in pairs(is.words or {}) do word.at = 0 end
  is = { born = math.floor(now), last = now, turn = 0, members = 0, hold = now + ask.lifetime, asked = 0, quiet = now, shares = 0, granted = now,
    accepted = 0, refused = 0, period = 0, batch = 0, trips = { 0, 0, 0 }, earlier = { 0, 0, 0 }, words = is.words or {}, ends = {}, due = {} }
end
now = math.max(now, is.last)
is.run, is.last, is.turn = run, now, is.turn + 1
local before = ask.epoch == is.born and ask.heard or math.min(ask.heard, 0)
local member = ask.member > 0 and ask.member or is.members + 1
is.members, is.accepted, is.refused = math.max(is.members, member), is.accepted + ask.accepted, is.refused + ask.refused
-- after a time in which no process was here, all keep to their own shares until each had time to report what it sent
local outage = ask.isRefused and now - math.max(is.asked, is.born) >= ask.outage
if outage or now - is.asked >= ask.reconnect then is.quiet = now end
if not ask.isAway then is.asked = now end
if outage or (ask.alone > 0 and now - ask.alone < is.quiet) then is.shares = is.quiet + ask.reconnect end
is.shares = math.min(is.shares, now + ask.reconnect)
is.hold = math.min(math.max(is.hold, is.shares), now + ask.reconnect + ask.lifetime)
-- round trips of the last half minute, and of the one before
local period, trips = math.floor(now / 30000), ask.trips
if period > is.period then
  is.earlier, is.trips, is.period = period == is.period + 1 and is.trips or { 0, 0, 0 }, { 0, 0, 0 }, period
end
local least = is.trips[3] > 0 and math.min(is.trips[1], trips[1]) or trips[1]
if trips[3] > 0 then is.trips = { least, is.trips[2] + trips[2], is.trips[3] + trips[3] } end
-- of each subject the word that holds longest counts; one that ends it is kept until others have heard it
for _, word in ipairs(ask.words) do
  local kept = is.words[word.about]
  word.at, word.by, word.ends = is.turn, ask.me, now + (word.ms == 0 and 10000 or word.ms)
  if word.ms == 0 or not kept or kept.ms == 0 or word.ends >= kept.ends then is.words[word.about] = word end
end
local heard = {}
for about, word in pairs(is.words) do
  if word.ends <= now then is.words[about] = nil
  elseif word.at > before and word.by ~= ask.me then
    heard[#heard + 1] = { about, word.text, word.ms == 0 and 0 or word.ends - now }
  end
end
for _, unit in ipairs(ask.units) do
  for _, series in ipairs(unit.series) do
    for each = 1, math.max(unit.cost, unit.before) do
      local id = each == 1 and unit.id or unit.id .. '+' .. each
      if each > unit.cost then call('ZREM', key(series, 1), id) else call('ZADD', key(series, 1), 'LT', now - unit.age, id) end
    end
  end
end
local slots = {}
for index, series in ipairs(ask.series) do
  local units, kept, list = key(index, 1), key(index, 2), {}
  if (is.ends[series.name] or 0) > now and call('ZADD', units, 'NX', 0, '0') == 1 then is.hold = math.max(is.hold, now + ask.lifetime) end
  call('ZREMRANGEBYSCORE', units, '(0', now - series.longest)
  call('ZREMRANGEBYSCORE', units, now + 3600000, '+inf')
  if series.width > 0 and call('ZCARD', units) > 1000 then
    for _, id in ipairs(call('ZRANGEBYSCORE', units, '(0', now - series.short, 'LIMIT', 0, 200)) do
      call('HINCRBY', kept, math.ceil(call('ZSCORE', units, id) / series.width) * series.width, 1)
      call('ZREM', units, id)
    end
  end
  local all = series.width > 0 and call('HGETALL', kept) or {}
  for each = 1, #all, 2 do list[#list + 1] = { tonumber(all[each]), tonumber(all[each + 1]) } end
  table.sort(list, function(one, other) return one[1] > other[1] end)
  if list[1] and list[#list][1] <= now - series.longest then call('HDEL', kept, string.format('%.0f', table.remove(list)[1])) end
  slots[index] = list
end
-- returns the score of a unit, counted from the newest
local function nth(series, index)
  local at = tonumber(call('ZREVRANGE', key(series, 1), index, index, 'WITHSCORES')[2] or 0)
  if at > 0 or #slots[series] == 0 then return at end
  index = index - math.max(0, call('ZCARD', key(series, 1)) - 1)
  for _, slot in ipairs(slots[series]) do
    index = index - slot[2]
    if index < 0 then return slot[1] end
  end
  return 0
end
-- returns when so many units of each limit are free; expected, if units without a response get one as usual
local function freeAt(want, units, early)
  local due = math.max(now, is.hold)
  for _, limit in ipairs(want.limits) do
    local rounds = math.floor((units - 1) / limit.quota)
    local at = nth(limit.series, limit.quota - units + rounds * limit.quota)
    -- one whose response is late may be known at any time
    if early > 0 and at > now then
      local usual = at - early
      if usual + limit.span <= now then usual = now - limit.span * (7 - math.min(6, units / 10)) / 8 end
      at = math.min(at, usual)
    end
    if not limit.ends then due = math.max(due, at > 0 and at + limit.span or 0, now) + rounds * (limit.span + want.lag)
    elseif rounds > 0 or at > now - limit.span then due = math.max(due, now + limit.ends) end
  end
  return due
end
local replies = {}
for index, want in ipairs(ask.wants) do
  local waiting, deadlines, cost, grants, granted = key(want.queue, 3), key(want.queue, 4), want.cost, {}, 0
  for _, late in ipairs(call('ZRANGEBYSCORE', deadlines, '-inf', now - 5000, 'LIMIT', 0, 100)) do
    call('ZREM', deadlines, late)
    call('ZREM', waiting, late)
  end
  if want.wanted > 0 then call('ZADD', waiting, 'NX', now + want.distance, ask.me) end
  local late = call('ZCOUNT', deadlines, '-inf', now)
  local before, all, due = math.max(0, (call('ZRANK', waiting, ask.me) or 0) - late), math.max(1, call('ZCARD', waiting)), is.due[want.queue] or 0
  if due > now + ask.lifetime then due = 0 end
  local most = math.min(want.wanted, math.max(1, math.floor(want.share / all)), 100)
  while granted < most and due + before * want.interval <= now + want.ahead do
    local free = math.max(due, freeAt(want, (before + granted + 1) * cost, 0))
    if want.gather > 0 and free > is.batch + want.gather then
      free = math.max(free, math.min(free + want.gather, freeAt(want, (before + granted + want.batch) * cost, 0)))
    end
    if free > now + want.ahead then break end
    granted, due, is.due[want.queue], is.batch = granted + 1, free + want.interval, free + want.interval, math.max(is.batch, free)
    grants[granted] = free - now
    for _, series in ipairs(want.series) do
      local about = ask.series[series]
      call('ZADD', key(series, 1), 0, '0')
      for each = 1, cost do
        local id = ask.id .. index .. '.' .. granted .. (each > 1 and '+' .. each or '')
        call('ZADD', key(series, 1), free + want.bound, id)
      end
      is.granted, is.ends[about.name] = now, free + want.bound + about.longest
      call('PEXPIRE', key(series, 1), math.ceil(is.ends[about.name] - now + 60000))
      if about.width > 0 then call('PEXPIRE', key(series, 2), math.ceil(is.ends[about.name] - now + 60000)) end
    end
  end
  local wait = 0
  if granted == want.wanted then
    call('ZREM', waiting, ask.me)
    call('ZREM', deadlines, ask.me)
  else
    if granted > 0 then
      call('ZADD', waiting, now + 2.5 * want.distance * math.max(1, math.sqrt(all / want.share)), ask.me)
      before = all - 1
    end
    wait = math.max(freeAt(want, (before + 1) * cost, want.early), due + before * want.interval) - now
    wait = math.max(wait - want.lead, want.shortest)
    call('ZADD', deadlines, now + wait + want.late, ask.me)
    call('PEXPIRE', waiting, math.ceil(wait + 60000))
    call('PEXPIRE', deadlines, math.ceil(wait + 60000))
  end
  local used = {}
  for each, limit in ipairs(want.limits) do
    used[each] = call('ZCOUNT', key(limit.series, 1), '(' .. now - limit.span, '+inf')
    for _, slot in ipairs(slots[limit.series]) do used[each] = used[each] + (slot[1] > now - limit.span and slot[2] or 0) end
  end
  replies[index] = { grants = grants, wait = wait, used = used, soonest = freeAt(want, cost, want.early) - now }
end
call('SET', KEYS[1], cmsgpack.pack(is), 'PX', 604800000)
return cjson.encode({
  epoch = is.born, turn = is.turn, member = member, clock = now, wants = replies, words = heard, trips = { is.trips, is.earlier },
  counts = { is.accepted, is.refused }, sharesFrom = is.granted + ask.lifetime - now, sharesUntil = is.shares - now,
})
