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
export class Journal {
  readonly #capacity: number
  readonly #listeners = new Set<(entry: JournalEntry) => void>()
  readonly #kept = new Map<number, JournalEntry>()
  readonly #entries = new Map<number, JournalEntry>()
  #lastId = 0
  #total = 0
  #dropped = 0

  /** @param capacity - how many entries it keeps, in addition to the evidence. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(facts: Omit<JournalEntry, 'id'>): JournalEntry {
    const id = (this.#lastId += 1)
    this.#total += 1
    const entry = { id, ...facts }
    this.#entries.set(id, entry)
    if (this.#entries.size > this.#capacity) {
      this.#entries.delete(id - this.#capacity)
      if (!this.#kept.has(id - this.#capacity)) this.#dropped += 1
    }
    for (const listener of this.#listeners) listener(entry)
    return entry
  }

  keep(id: number): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) this.#kept.set(id, entry)
  }

  entries({ limit, after = 0, id, ...wanted }: JournalFilter = {}): JournalEntry[] {
    if (id !== undefined) return [this.#kept.get(id) ?? this.#entries.get(id) ?? []].flat()
    const fields = Object.entries(wanted).filter(([, value]) => value !== undefined) as [
      keyof JournalEntry,
      unknown,
    ][]
    const matches = (entry: JournalEntry): boolean =>
      entry.id > after && fields.every(([name, value]) => entry[name] === value)
    const older = [...this.#kept.values()].filter((entry) => !this.#entries.has(entry.id))
    const found = [...older.toSorted((a, b) => a.id - b.id), ...this.#entries.values()].filter(matches)
    return limit === undefined ? found : found.slice(-limit)
  }

  /** Returns how many entries were added since the journal was cleared, and how many of them were dropped because it was full. */
  counts(): { total: number; dropped: number } {
    return { total: this.#total, dropped: this.#dropped }
  }

  clear(): void {
    this.#entries.clear()
    this.#kept.clear()
    this.#total = this.#dropped = 0
  }

  listen(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
