// What Redis keeps of a request, and its response.

/** Returns for how long the keys of the process are needed. */
export const keptFor = `
local function keptFor(wait)
  local longest = 0
  for _, limit in ipairs(limits) do longest = math.max(longest, limit.span) end
  return math.ceil(longest + wait + 120000)
end
`

/** Writes state and statement; where memory is short, Redis refuses the first, and nothing is changed. */
export const writeState = `
local function writeState(kept, place, waits)
  local record = { epoch = state.epoch, number = request.number, units = units, place = place, waiting = waits }
  redis.call('SET', keys.state, cmsgpack.pack(state), 'PX', math.ceil(math.max(week, kept)))
  redis.call('SET', keys.process, cmsgpack.pack(record), 'PX', kept)
end
`

/** Takes processes out of the queue that did not come back in time; a new epoch begins with an empty queue. */
export const leaveLate = `
local function leaveLate()
  if isNew then redis.call('DEL', keys.queue, keys.deadlines) end
  local late = redis.call('ZRANGEBYSCORE', keys.deadlines, '-inf', string.format('%.3f', now), 'LIMIT', 0, 100)
  for _, each in ipairs(late) do
    redis.call('ZREM', keys.deadlines, each)
    redis.call('ZREM', keys.queue, each)
  end
end
`

/** Puts the process into the queue, or takes it out. */
export const writeQueue = `
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
`

/** Drops the queue where one of its two keys was lost: all processes come back by themselves, with their places. */
export const mendQueue = `
local function mendQueue()
  if redis.call('ZCARD', keys.queue) ~= redis.call('ZCARD', keys.deadlines) then
    redis.call('DEL', keys.queue, keys.deadlines)
  end
end
`

/** Returns the part of the fullest limit that is used, and how many units are free now. */
export const levels = `
local function levels(freeings)
  local used, left = 0, math.min(leftBeforeReset(), 1000000000)
  for index, limit in ipairs(limits) do
    local free = math.max(0, freeings[index].free)
    used, left = math.max(used, 1 - free / limit.quota), math.min(left, free)
  end
  if math.max(state.hold, state.pause) > now then left = 0 end
  return used, left
end
`

/** Returns the response to the request. */
export const respond = `
local function respond(grants, wait)
  local freeings = allFreeings(true)
  local used, left = levels(freeings)
  return cjson.encode({
    epoch = state.epoch, turn = state.turn, member = member, grants = grants, wait = wait, now = now,
    promise = promise, used = used, left = left, asks = asks,
    soonest = math.max(0, dueOf(1, freeings) - now), pause = math.max(0, state.pause - now),
  })
end
`
