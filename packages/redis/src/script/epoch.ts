// When Redis knows all that was granted, and when it must wait before it grants more.

/** Returns whether Redis may have forgotten what it granted. */
export const isForgotten = `
local function isForgotten(run)
  if not state then return true end
  local clockWasSetBack = now < state.last - 1000
  local writesWereLost = message.epoch == state.epoch and message.turn > state.turn
  local isAnotherServer = run ~= '' and state.run ~= '' and run ~= state.run
  return clockWasSetBack or writesWereLost or isAnotherServer
end
`

/** Begins an epoch: nothing is granted until all that was granted before is out of the window. */
export const beginEpoch = `
local function beginEpoch(run)
  local pause = state and state.pause < now + 86400000 and state.pause or 0
  state = {
    epoch = me .. ':' .. message.number, born = now, run = run, turn = 0, hold = now + policy.grantLifetime, pause = pause,
    silenceEnd = now, heard = 0, next = 0, round = 0, members = 0, lag = message.lag, take = 1, times = {},
    promise = lease, served = 0, left = 0, reset = 0, paced = 0, asked = 0, reported = 0, used = {},
  }
  stated = nil
  isNew = true
end
`

/** Sees to it that the state is one that knows of all units, that time does not run back, and counts the message. */
export const enterEpoch = `
local function enterEpoch()
  local run = (not state or now - state.last > 20) and readRun() or state.run
  if isForgotten(run) then beginEpoch(run) end
  now = math.max(now, state.last or 0)
  if state.run == '' then state.run = run end
  state.turn, state.last = state.turn + 1, now
end
`

/** Gives the process a number if it has none. */
export const numberMember = `
local function numberMember()
  state.members = math.max(state.members, message.member)
  member = message.member
  if member == 0 then
    state.members = state.members + 1
    member = state.members
  end
end
`

/** After a silence of all processes, waits until those that kept to their own shares have stated what they sent. */
export const waitForOthers = `
local function waitForOthers()
  if now - lastHeard >= policy.reconnectTime then state.silenceEnd = now end
  -- a process that is away was not heard: its message may have arrived, and the answer not
  if not message.away then state.heard = now end
  local wasAloneInTheSilence = message.alone > 0 and now - message.alone < state.silenceEnd
  if wasAloneInTheSilence then state.hold = math.max(state.hold, state.silenceEnd + policy.reconnectTime) end
end
`

/** Begins, prolongs or lifts the pause of all; after it the fleet goes at an even pace, since the API takes less than the limits allow. */
export const hearNews = `
local function hearNews()
  if message.resume then state.pause, state.paced = 0, 0 end
  if message.pause > 0 then
    state.pause = math.max(state.pause, now + message.pause)
    state.paced = math.max(state.paced, state.pause + (shortest() or 0))
  end
end
`
