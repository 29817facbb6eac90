import { createHash } from 'node:crypto'
import type { Script } from './redis-client.ts'
import * as due from './script/due.ts'
import * as epoch from './script/epoch.ts'
import * as granting from './script/grant.ts'
import * as known from './script/known.ts'
import * as remaining from './script/remaining.ts'
import * as times from './script/times.ts'
import * as turns from './script/turns.ts'
import * as units from './script/units.ts'
import * as write from './script/write.ts'

// One exchange between a process and the fleet's budget: atomic, on Redis' clock, in milliseconds.
//
// The rule: a unit counts in a limit until one span after its response. A process states all its units with each
// request, and Redis replaces what it stated before, so that a lost response leaves nothing behind. A unit without a
// response is presumed to be answered at a time that the process names; the process reports it if it is not.
//
// What Redis keeps of an API:
// - `state`, one value: the epoch, holds and pauses, and the units of all processes by limit and slot of time;
// - `process`, one value for each process: what it stated last, and its place in the queue;
// - `queue`: the waiting processes by their places; `deadlines`: until when each must be back to stay in it.
//
// Grants are made ahead: a process gets units with the times at which they are due, and does not ask again.
//
// | state of the API | units are                                  | what leads to it                                    |
// | ---------------- | ------------------------------------------ | --------------------------------------------------- |
// | on hold          | not granted until `state.hold`             | a new epoch, a limit that is new, a process that    |
// |                  |                                            | comes back after no process has reached Redis       |
// | paused           | not granted until `state.pause`            | a process that reports it; another one may lift it  |
// | used up          | not granted until `state.reset`, beyond    | a process whose response says that the API takes    |
// |                  | `state.left`                               | less than the limits allow                          |
// | open             | granted to processes in turn               | the end of all these                                |

/** What happens to a request, from top to bottom. */
const program = `
readKeys()
if isStale() then return cjson.encode({ stale = true }) end

enterEpoch()
numberMember()
waitForOthers()
replaceStated()
applyPause()
learnTimes()
applyReported()

local grants, wait, place, waits = serve()

local kept = keptFor(wait)
writeState(kept, place, waits)
leaveLate()
writeQueue(kept, wait, place, waits)
mendQueue()
return respond(grants, wait)
`

/** The functions of the script, each after those that it calls, and the program. */
const text = [
  known.names,
  known.readClock,
  known.readRun,
  known.read,
  known.readKeys,
  known.isStale,
  epoch.isForgotten,
  epoch.beginEpoch,
  epoch.enterEpoch,
  epoch.numberMember,
  epoch.waitForOthers,
  units.slotOf,
  units.usedOf,
  units.add,
  units.remove,
  units.forgetOldUnits,
  units.removeStated,
  units.addStated,
  units.replaceStated,
  times.shortest,
  epoch.applyPause,
  times.promiseOf,
  times.learnTimes,
  due.responseOf,
  due.freeingsOf,
  due.allFreeings,
  granting.narrowest,
  remaining.leftBeforeReset,
  remaining.apart,
  due.roundDelay,
  due.freeAt,
  due.dueOf,
  due.roomBy,
  turns.fewest,
  remaining.sentSince,
  remaining.applyReported,
  remaining.asksForReport,
  remaining.spend,
  turns.cost,
  turns.placeOf,
  turns.aheadOf,
  turns.waitFor,
  granting.findUnits,
  granting.grant,
  granting.dueIn,
  granting.learnDelay,
  granting.serve,
  write.keptFor,
  write.writeState,
  write.leaveLate,
  write.writeQueue,
  write.mendQueue,
  write.levels,
  write.respond,
  program,
].join('')

export const limiterScript: Script = { text, sha: createHash('sha1').update(text).digest('hex') }
