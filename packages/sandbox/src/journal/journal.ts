import { object, oneOf, optional, text, wholeNumber, type Allowed } from '../allowed.ts'
import { decisions, targets, type Decision, type JournalEntry, type Target } from './entry.ts'

/** Selects the entries that match every field that is given. */
export interface JournalFilter {
  target?: Target
  decision?: Decision
  client?: string
  /** Short name of a token. */
  token?: string
  status?: number
  /** Only entries with a greater id. */
  after?: number
  /** Only the entry with this id. */
  id?: number
  /** Only the newest entries, at most this number. */
  limit?: number
}

export const journalFilter: Allowed<JournalFilter> = object<JournalFilter>({
  target: optional(oneOf(targets)),
  decision: optional(oneOf(decisions)),
  client: optional(text),
  token: optional(text),
  status: optional(wholeNumber({ min: 100, max: 599 })),
  after: optional(wholeNumber({})),
  id: optional(wholeNumber({ min: 1 })),
  limit: optional(wholeNumber({ min: 1 })),
})

/** Keeps the newest entries, and older ones that are evidence. */
export interface Journal {
  add(entry: Omit<JournalEntry, 'id'>): JournalEntry
  keep(id: number): void
  entries(filter?: JournalFilter): JournalEntry[]
  /** Returns how many entries were added since the journal was cleared, and how many of them were dropped because it was full. */
  counts(): { total: number; dropped: number }
  clear(): void
  listen(listener: (entry: JournalEntry) => void): () => void
}

/**
 * Makes an empty journal.
 *
 * @param capacity - how many entries it keeps, in addition to the evidence.
 */
export function createJournal(capacity: number): Journal {
  const listeners = new Set<(entry: JournalEntry) => void>()
  const kept = new Map<number, JournalEntry>()
  let entries = new Map<number, JournalEntry>()
  let lastId = 0
  let [total, dropped] = [0, 0]

  return {
    add(facts) {
      lastId += 1
      total += 1
      const entry = { id: lastId, ...facts }
      entries.set(lastId, entry)
      if (entries.size > capacity) {
        entries.delete(lastId - capacity)
        if (!kept.has(lastId - capacity)) dropped += 1
      }
      for (const listener of listeners) listener(entry)
      return entry
    },
    keep(id) {
      const entry = entries.get(id)
      if (entry !== undefined) kept.set(id, entry)
    },
    entries({ limit, after = 0, id, ...wanted } = {}) {
      if (id !== undefined) return [kept.get(id) ?? entries.get(id) ?? []].flat()
      const fields = Object.entries(wanted).filter(([, value]) => value !== undefined) as [
        keyof JournalEntry,
        unknown,
      ][]
      const matches = (entry: JournalEntry): boolean =>
        entry.id > after && fields.every(([name, value]) => entry[name] === value)
      const older = [...kept.values()]
        .filter((entry) => !entries.has(entry.id))
        .toSorted((a, b) => a.id - b.id)
      const found = [...older, ...entries.values()].filter(matches)
      return limit === undefined ? found : found.slice(-limit)
    },
    counts: () => ({ total, dropped }),
    clear() {
      entries = new Map()
      kept.clear()
      total = dropped = 0
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
