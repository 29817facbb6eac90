import { pause } from '../faults/latency.ts'
import type { JournalEntry } from '../journal/entry.ts'
import type { SandboxControl } from './sandbox-control.ts'

const interval = 100
const stateEvery = 5
/** How many entries are kept for a client that reads slowly. Beyond that the oldest are dropped. */
const longestBacklog = 10_000

export interface EventSource {
  control: Pick<SandboxControl, 'journal' | 'state'>
  listen: (listener: (entry: JournalEntry) => void) => () => void
}

/**
 * Makes server-sent events: `journal` for each new entry, with its id as the event's id, and `state` about twice a second.
 * A client that reads slowly gets everything later.
 *
 * @param after - id of the last entry that the client has: the entries after it come first. With `undefined` it has new
 * entries only.
 */
export async function* events(
  { control, listen }: EventSource,
  after: number | undefined,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let waiting: JournalEntry[] = after === undefined ? [] : control.journal({ after })
  const unlisten = listen((entry) => {
    waiting.push(entry)
    if (waiting.length > longestBacklog) waiting = waiting.slice(-longestBacklog / 2)
  })
  try {
    for (let ticks = 0; ; ticks += 1) {
      const texts = waiting.map(
        (entry) => `event: journal\nid: ${entry.id}\ndata: ${JSON.stringify(entry)}\n\n`,
      )
      waiting = []
      if (ticks % stateEvery === 0) texts.push(`event: state\ndata: ${JSON.stringify(control.state())}\n\n`)
      if (texts.length > 0) yield encoder.encode(texts.join(''))
      await pause(interval)
    }
  } finally {
    unlisten()
  }
}
