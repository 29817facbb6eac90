// What every function of the limiter's script may use: the request, the settings, the clock, and what Redis keeps.

/** Names the keys, the request and the settings, and declares what the steps of the program pass on. */
export const names = `
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
-- How many of the last response times are kept, and how many are needed.
local timesKept, timesNeeded = 30, 15

-- The state of the API; what this process stated last; what it states now, by limit; its number in the fleet.
local state, stated, units, member
-- How long after its due time a new unit is presumed to be answered.
local promise
-- Whether the process shall report the next response.
local asks = false
-- Whether this request begins an epoch, and when the one before it arrived.
local isNew, lastRequestAt
`

/** Returns Redis' clock in milliseconds. */
export const readClock = `
local function readClock()
  local time = redis.call('TIME')
  return time[1] * 1000 + time[2] / 1000
end

local now = readClock()
`

/** Returns the name of this run of the server; empty where INFO is not allowed. */
export const readRun = `
local function readRun()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end
`

/** Returns the value of a key, nil for one that is lost or cannot be read. */
export const read = `
local function read(key)
  local packed = redis.call('GET', key)
  local ok, value = pcall(cmsgpack.unpack, packed or '')
  return packed and ok and type(value) == 'table' and value or nil
end
`

/** Reads what Redis keeps; what a process stated in another epoch does not count. */
export const readKeys = `
local function readKeys()
  state = read(keys.state)
  lastRequestAt = state and state.requestedAt or 0
  stated = read(keys.process)
  if stated and state and stated.epoch ~= state.epoch then stated = nil end
end
`

/** Returns whether Redis has seen this request, or a later one. */
export const isStale = `
local function isStale()
  return stated and request.number <= stated.number
end
`
