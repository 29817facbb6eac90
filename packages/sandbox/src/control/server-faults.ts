import type { Cut, Fault, FaultSlot, FaultSpan } from '../faults/fault.ts'
import type { Latency } from '../faults/latency.ts'
import { realms, type Realm } from '../realm.ts'
import type { ServerClock } from '../server/pulse.ts'

interface FaultyServer {
  slowness: Latency
  readonly faults: FaultSlot<Fault>
  readonly clock: ServerClock
}

export interface ServerFaults<Failure extends FaultSpan> {
  readonly slow: (realm: Realm, ms: Latency) => void
  readonly fail: (realm: Realm, failure: Failure) => void
  readonly kill: (realm: Realm, span?: Cut) => void
  readonly setClock: (realm: Realm, offset: number) => void
  /** Ends all faults, for one server or for both. */
  readonly restore: (realm?: Realm) => void
}

/**
 * Returns the control functions that make one kind of servers misbehave.
 *
 * @param faultOf - returns what the server does for a failure as control describes it.
 */
export function serverFaults<Failure extends FaultSpan>(
  servers: Readonly<Record<Realm, FaultyServer>>,
  faultOf: (failure: Failure) => Fault,
): ServerFaults<Failure> {
  return {
    slow(realm, ms) {
      servers[realm].slowness = ms
    },
    fail(realm, failure) {
      servers[realm].faults.set(faultOf(failure), failure)
    },
    kill(realm, span = {}) {
      servers[realm].faults.set(span.midBody === true ? 'cut-body' : 'cut', span)
    },
    setClock(realm, offset) {
      servers[realm].clock.offset = offset
    },
    restore(realm) {
      for (const each of realm === undefined ? realms : [realm]) {
        const server = servers[each]
        server.slowness = 0
        server.clock.offset = 0
        server.faults.clear()
      }
    },
  }
}
