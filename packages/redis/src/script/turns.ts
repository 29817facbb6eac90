// In which order the waiting processes get units.

/** Returns the smallest quota. */
export const fewest = `
local function fewest()
  local quota = 1000000
  for _, limit in ipairs(limits) do quota = math.min(quota, limit.quota) end
  return quota
end
`

/** Returns what a unit costs of a place: more for a process that holds its units for longer, far from Redis. */
export const cost = `
local function cost()
  local span = shortest()
  return span and math.max(1, 0.75 + 1.5 * request.lag / span) or 1
end
`

/** Returns the place of the process: places are counted in units served, and in one round the first come is first. */
export const placeOf = `
local function placeOf(share)
  local place = stated and stated.place or 0
  if not (stated and stated.waiting) then
    place = math.max(state.round + 1 + state.turn % 1000000 / 1000000, place)
  end
  return math.min(place, state.round + 1 + share + cost())
end
`

/** Returns how many processes are before a place. */
export const aheadOf = `
local function aheadOf(place) return redis.call('ZCOUNT', keys.queue, '-inf', string.format('(%.7f', place)) end
`

/** Returns when the process shall ask again, for the n-th unit from now. */
export const waitFor = `
local function waitFor(unit, others)
  local due = dueOf(unit, allFreeings(true))
  local lead = horizon / 2
  local wait = math.max(due - lead, state.hold) - now
  if state.pause > now then wait = math.min(wait, math.max(pauseLook, others * 20)) end
  if state.reset > now then wait = math.min(wait, math.max(resetLook, others * 2000)) end
  return math.max(wait, horizon / 4)
end
`
