// When Redis knows all that was granted, and when it must wait before it grants more.

/** Returns whether Redis may have forgotten what it granted. */
export const isForgotten = `
local function isForgotten(run)
  if not state then return true end
  local clockWasSetBack = now < state.last - 1000
  local writesWereLost = request.epoch == state.epoch and request.turn > state.turn
  local isAnotherServer = run ~= '' and state.run ~= '' and run ~= state.run
  return clockWasSetBack or writesWereLost or isAnotherServer
end
`

/** Begins an epoch: nothing is granted until all that was granted before is out of the window. */
export const beginEpoch = `
local function beginEpoch(run)
  local pause = state and state.pause < now + 86400000 and state.pause or 0
  state = {
    epoch = me .. ':' .. request.number, born = now, run = run, turn = 0, hold = now + policy.grantLifetime, pause = pause,
    silenceEnd = now, requestedAt = 0, next = 0, round = 0, members = 0, lag = request.lag, take = 1, times = {},
    promise = lease, served = 0, left = 0, reset = 0, paced = 0, asked = 0, reported = 0, used = {},
  }
  stated = nil
  isNew = true
end
`

/** Sees to it that the state is one that knows of all units, that time does not run back, and counts the request. */
export const enterEpoch = `
local function enterEpoch()
  local run = (not state or now - state.last > 20) and readRun() or state.run
  if isForgotten(run) then beginEpoch(run) end
  now = math.max(now, state.last or 0)
  if state.run == '' then state.run = run end
  state.turn, state.last = state.turn + 1, now
end
`

/** Gives the process a number, unless it has one. */
export const numberMember = `
local function numberMember()
  state.members = math.max(state.members, request.member)
  member = request.member
  if member == 0 then
    state.members = state.members + 1
    member = state.members
  end
end
`

/** After a time in which no process has reached Redis, waits until those that kept to their own shares have stated what they sent. */
export const waitForOthers = `
local function waitForOthers()
  if now - lastRequestAt >= policy.reconnectTime then state.silenceEnd = now end
  -- a process that is away has not got a response: its requests may have arrived, and the responses not
  if not request.away then state.requestedAt = now end
  local wasAloneInTheSilence = request.alone > 0 and now - request.alone < state.silenceEnd
  if wasAloneInTheSilence then state.hold = math.max(state.hold, state.silenceEnd + policy.reconnectTime) end
end
`

/** Begins, prolongs or lifts the pause of all; after it the fleet goes at an even pace, since the API takes less than the limits allow. */
export const applyPause = `
local function applyPause()
  if request.resume then state.pause, state.paced = 0, 0 end
  if request.pause > 0 then
    state.pause = math.max(state.pause, now + request.pause)
    state.paced = math.max(state.paced, state.pause + (shortest() or 0))
  end
end
`
