// How long responses take, as far as all processes know.

/** Returns the shortest span, nil without limits. */
export const shortest = `
local function shortest()
  local span
  for _, limit in ipairs(limits) do span = math.min(span or limit.span, limit.span) end
  return span
end
`

/** Returns the promise that costs least, in time by which units come free later and in requests for late responses. */
export const promiseOf = `
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
`

/** Takes the times that the process reports, and finds the promise of its new units: by its own times, or by all. */
export const learnTimes = `
local function learnTimes()
  local times = state.times
  for _, time in ipairs(request.times) do times[#times + 1] = time end
  while #times > timesKept do table.remove(times, 1) end
  if #request.times > 0 and #times >= timesNeeded then state.promise = promiseOf(times) end
  promise = request.promise > 0 and request.promise or state.promise
  local lag = request.lag > 0 and request.lag or promise < lease and promise or 0
  if lag > 0 then state.lag = state.lag * 0.9 + lag * 0.1 end
end
`
