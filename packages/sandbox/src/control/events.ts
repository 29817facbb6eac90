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
 * Returns a stream of server-sent events: `journal` for each new entry, with its id as the event's id, and `state` about
 * twice a second.
 *
 * @param after - id of the last entry that the client has. The stream begins with the entries after it; with
 * `undefined` it has new entries only.
 */
export function eventStream(
  { control, listen }: EventSource,
  after: number | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let waiting: JournalEntry[] = after === undefined ? [] : control.journal({ after })
  let ticks = 0
  let stop: () => void

  return new ReadableStream<Uint8Array>({
    start(controller) {
      const unlisten = listen((entry) => {
        waiting.push(entry)
        if (waiting.length > longestBacklog) waiting = waiting.slice(-longestBacklog / 2)
      })
      const send = (): void => {
        // a client that reads slowly gets everything later
        if ((controller.desiredSize ?? 0) <= 0) return
        const entries = waiting.map(
          (entry) => `event: journal\nid: ${entry.id}\ndata: ${JSON.stringify(entry)}\n\n`,
        )
        waiting = []
        const state =
          ticks % stateEvery === 0 ? `event: state\ndata: ${JSON.stringify(control.state())}\n\n` : ''
        ticks += 1
        const text = entries.join('') + state
        if (text !== '') controller.enqueue(encoder.encode(text))
      }
      const timer = setInterval(send, interval).unref()
      stop = () => {
        clearInterval(timer)
        unlisten()
      }
      send()
    },
    cancel() {
      stop()
    },
  })
}
