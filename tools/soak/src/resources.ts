import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { Tally } from './tally.ts'

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in the heap that are still needed. */
export function heapUsed(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/** What keeps the process busy, such as `Timeout` or `TCPSocketWrap`. */
export function handles(): Tally {
  const tally = new Tally()
  for (const name of process.getActiveResourcesInfo()) tally.add(name)
  return tally
}
