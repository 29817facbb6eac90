import { vi } from 'vitest'

// A wait ends by what it waits for. Vitest gives up after one second, which a busy machine may take for anything, and which is as
// long as some bounds of what is tested: a limit against what hangs is longer.
const timeout = 120_000

type Wait = (condition: () => unknown, given?: number | object) => Promise<unknown>

/** Returns a wait that lasts as long as a test says, or as long as it takes. */
function patiently(wait: Wait): Wait {
  const patient: Wait = (condition, given) =>
    wait(condition, typeof given === 'number' ? given : { timeout, ...given })
  return Object.assign(patient, { isPatient: true })
}

// files that share a process load this again each time
if (!('isPatient' in vi.waitFor))
  Object.assign(vi, { waitFor: patiently(vi.waitFor as Wait), waitUntil: patiently(vi.waitUntil as Wait) })
