// What the API still takes by its own headers, where that is less than the limits allow.

/** Returns how many units were sent after a time, for sure: the API had not counted them then. */
export const sentSince = `
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
`

/**
 * Keeps what the API still takes by a response, where that is less than the limits allow, or where the API begins to count
 * anew later. An API that keeps the policy and has no other client does neither: its reset in whole seconds would only
 * slow the fleet down.
 */
export const applyReported = `
local function applyReported()
  local remaining, resetIn, age = unpack(request.reported)
  if request.resume then state.reset = 0 end
  -- another process may have reported a later response, and an old response does not show what came free since
  local isOld = remaining and (now - age < state.reported or age > (shortest() or 60000) / 40)
  if not remaining or isOld then return end
  state.reset, state.reported = 0, now - age
  local freeings = allFreeings(false)
  local left = remaining - sentSince(now - age)
  -- what came free since, and what was sent in the same hundredth of a span, is not known
  local isFewer = left + 1 + fewest() / 40 < roomBy(now, freeings)
  local isLater = now + resetIn > dueOf(1, freeings) + 1000
  if isFewer or isLater then state.left, state.reset = math.max(0, left), now + resetIn end
  if isFewer and left < 1 then state.paced = state.reset + (shortest() or 0) end
end
`

/** Returns how many units the API still takes before its reset. */
export const leftBeforeReset = `
local function leftBeforeReset() return state.reset > now and state.left or math.huge end
`

/**
 * Returns how far apart units are due: as `spread` says; otherwise as the limits allow at an even pace, for a window
 * after a reset that the API made the fleet wait for. What it takes then is known only from the next responses. Expected
 * of units that are not granted yet: as far apart as the last ones were.
 */
export const apart = `
local function apart(isExpected)
  if interval > 0 or now >= state.paced then return interval end
  local limit = narrowest()
  return limit and (limit.span + (isExpected and state.delay or 0)) / limit.quota or 0
end
`

/** Returns whether the process shall report the next response: now and then one does, where the API says what remains. */
export const asksForReport = `
local function asksForReport(granted)
  local span = shortest()
  if granted == 0 or not span or now < math.max(state.asked, state.reported) + span / 4 then return false end
  state.asked = now
  return true
end
`

/** Counts units that the API will count before its reset. */
export const spend = `
local function spend(grants)
  for _, each in ipairs(grants) do
    if now + each[1] < state.reset then state.left = state.left - each[2] end
  end
end
`
