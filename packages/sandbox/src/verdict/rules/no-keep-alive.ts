import type { JournalEntry, SeenClose } from '../../journal/entry.ts'
import { BoundedMap } from '../../bounded-map.ts'
import { plural } from '../../in-words.ts'
import { isTyped, type Rule } from '../rule.ts'

/** A client that closes a connection within this time after its only response does not reuse connections, in milliseconds. */
const soon = 1_000
/** A program that ends and starts again needs longer to open its next connection, in milliseconds. */
const quickest = 25
const remembered = 1_000

const server = ({ client, target }: JournalEntry): string => `${client} ${target}`

/** Connections that were closed after one request, and opened anew for the next one. */
export const noKeepAlive: Rule = {
  name: 'no-keep-alive',
  severity: 'warning',
  message: (count) => `${plural(count, 'request')} opened a new connection right after closing one`,
  fix: 'Let the client reuse connections: use an agent with keepAlive and one client object for all calls, and do not send "Connection: close".',
  least: 5,
  watch(report) {
    const closed = new BoundedMap<SeenClose[]>(remembered)
    return {
      see({ entry, onConnection, beganAt, arrivedAt }) {
        const before = closed.get(server(entry))
        if (onConnection > 1 || before === undefined) return
        const index = before.findIndex(({ at }) => at < arrivedAt && beganAt - at <= quickest)
        if (index === -1) return
        const [close] = before.splice(index, 1)
        if (close !== undefined) report({ evidence: [close.last.entry.id, entry.id] })
      },
      // a command that is typed starts faster, and keeps its connection for as long as it runs
      seeClose(close) {
        const { last, at } = close
        const wanted = last.entry.decision === 'left' || last.cut || at - last.decidedAt > soon
        if (last.onConnection > 1 || wanted || isTyped(last.entry.client)) return
        const before = closed.get(server(last.entry)) ?? []
        closed.set(server(last.entry), [...before.slice(1 - remembered), close])
      },
    }
  },
}
