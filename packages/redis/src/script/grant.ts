// What a process gets: units ahead, or a time at which to ask again.

/** Returns units that are due within the horizon, and how many they are. */
export const findUnits = `
local function findUnits(most, freeings)
  local grants, granted = {}, 0
  while granted < most do
    local due = math.max(freeAt(granted + 1, freeings), state.next)
    if due > now + horizon then break end
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
`

/** Grants units: they count as if the process had stated them. */
export const grant = `
local function grant(most, freeings)
  local grants, granted = findUnits(most, freeings)
  spend(grants)
  for _, each in ipairs(grants) do
    local at = now + each[1] + promise
    for _, limit in ipairs(limits) do
      add(limit, at, each[2])
      local entries = units[limit.key]
      entries[#entries + 1] = { at, each[2] }
    end
  end
  return grants, granted
end
`

/** Returns the limit that lets the fewest units pass in the long run. */
export const narrowest = `
local function narrowest()
  local found
  for _, limit in ipairs(limits) do
    if not found or limit.span / limit.quota > found.span / found.quota then found = limit end
  end
  return found
end
`

/** Returns when the n-th unit of grants is due. */
export const dueIn = `
local function dueIn(grants, unit)
  for _, each in ipairs(grants) do
    unit = unit - each[2]
    if unit <= 0 then return now + each[1] end
  end
end
`

/** Learns, while processes wait, by how much a round of the narrowest limit takes longer than its span. */
export const learnDelay = `
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
`

/** Serves the process if its turn has come: returns grants, when to ask for the rest, its place and whether it waits. */
export const serve = `
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
    grants, granted = grant(math.min(request.wanted, share), freeings)
  end
  if granted > 0 then
    learnDelay(grants, granted, all)
    state.take = state.take * 0.9 + granted * 0.1
    state.round = math.max(state.round, math.floor(place))
    place = place + granted * cost()
    ahead = isNew and 0 or aheadOf(place) - queued
  end
  asks = asksForReport(granted)
  if request.wanted <= granted then return grants, 0, place, false end
  return grants, waitFor(math.ceil(ahead * math.min(share, state.take)) + 1, all), place, true
end
`
