// The units of all processes, by limit and slot of time.

/** Returns the slot of a time. */
export const slotOf = `
local function slotOf(limit, at) return math.ceil(at * slots / limit.span) end
`

/** Returns the slots of a limit; one that is new to Redis is full for one window. */
export const usedOf = `
local function usedOf(limit)
  if not state.used[limit.key] then
    state.used[limit.key] = { span = limit.span, slots = {} }
    if not isNew then state.hold = math.max(state.hold, now + math.min(limit.span, policy.grantLifetime)) end
  end
  local used = state.used[limit.key]
  used.statedAt = now
  return used.slots
end
`

/** Counts units that are answered at a time. */
export const add = `
local function add(limit, at, count)
  if at + limit.span <= now then return end
  local used, slot = usedOf(limit), slotOf(limit, at)
  local known = used[slot] or { 0, at }
  used[slot] = { known[1] + count, math.max(known[2], at) }
end
`

/** Counts units no longer. */
export const remove = `
local function remove(limit, at, count)
  if at + limit.span <= now then return end
  local used, slot = usedOf(limit), slotOf(limit, at)
  local left = used[slot] and used[slot][1] - count or 0
  if left > 0 then used[slot][1] = left else used[slot] = nil end
end
`

/** Forgets units that are out of the window, and limits that no process has any more. */
export const forgetOldUnits = `
local function forgetOldUnits()
  for key, used in pairs(state.used) do
    for slot, known in pairs(used.slots) do
      if known[2] + used.span <= now then used.slots[slot] = nil end
    end
    if used.statedAt and now - used.statedAt > used.span + 3600000 then state.used[key] = nil end
  end
end
`

/** Forgets what the process stated before. */
export const removeStated = `
local function removeStated()
  for _, limit in ipairs(limits) do
    usedOf(limit)
    for _, unit in ipairs(stated and stated.units[limit.key] or {}) do remove(limit, unit[1], unit[2]) end
  end
end
`

/** Counts the units that the process states now, and returns them by limit. */
export const addStated = `
local function addStated()
  local list = {}
  for index, limit in ipairs(limits) do
    local entries = {}
    for _, unit in ipairs(request.units[index] or {}) do
      local at = now - unit[1]
      entries[#entries + 1] = { at, unit[2] }
      add(limit, at, unit[2])
    end
    list[limit.key] = entries
  end
  return list
end
`

/** Puts what the process states in the place of what it stated before. */
export const replaceStated = `
local function replaceStated()
  removeStated()
  forgetOldUnits()
  units = addStated()
end
`
