// When the n-th unit from now is due: for sure, or as expected if units under way are answered as usual.

/** Returns when a unit is answered: as stated, or as expected of one that is presumed to be under way. */
export const responseOf = `
local function responseOf(at, isExpected)
  local isPresumed = at > now + horizon + policy.longestPromise
  return isExpected and isPresumed and now + state.lag or at
end
`

/** Returns what is free in a limit, and when how many more units come free, earliest first. */
export const freeingsOf = `
local function freeingsOf(limit, isExpected)
  local list, free = {}, limit.quota
  for _, known in pairs(usedOf(limit)) do
    list[#list + 1] = { at = responseOf(known[2], isExpected) + limit.span, units = known[1] }
    free = free - known[1]
  end
  table.sort(list, function(one, other) return one.at < other.at end)
  return { list = list, free = free }
end
`

/** Returns the same for each limit. */
export const allFreeings = `
local function allFreeings(isExpected)
  local all = {}
  for index, limit in ipairs(limits) do all[index] = freeingsOf(limit, isExpected) end
  return all
end
`

/** Returns by how much a round takes longer than its span: as learned, or as long as units are presumed to be under way. */
export const roundDelay = `
local function roundDelay()
  return state.delay or state.promise < lease and state.promise or state.lag
end
`

/** Returns when the n-th unit is free in every limit. */
export const freeAt = `
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
`

/** Returns when the n-th unit is free and, with pacing, far enough from the one before. */
export const dueOf = `
local function dueOf(unit, freeings)
  local from, left, inRow = math.max(now, state.hold, state.pause, state.next), leftBeforeReset(), unit
  if unit > left then from, inRow = math.max(from, state.reset), unit - left end
  return math.max(freeAt(unit, freeings), from + (inRow - 1) * apart(true))
end
`

/** Returns how many units are free by a time. */
export const roomBy = `
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
`
