import { createJudge, type Judge } from './verdict.ts'
import { createConnections, type Connection, type Connections } from '../journal/watch.ts'
import type { JournalEntry, RequestFacts } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'

export interface Witness {
  judge: Judge
  connections: Connections
  observe(entry: Omit<JournalEntry, 'id'>, facts: RequestFacts, connection: Connection): void
  observeClose(connection: Connection, at: number): void
}

export function createWitness(journal: Journal): Witness {
  const judge = createJudge((id) => journal.keep(id))

  return {
    judge,
    connections: createConnections(),
    observe(seen, facts, connection) {
      const request = { entry: journal.add(seen), ...facts }
      connection.last = request
      judge.see(request)
    },
    observeClose({ last }, at) {
      if (last !== undefined) judge.seeClose({ last, at })
    },
  }
}
