import { batch, computed, signal } from '@preact/signals'
import type { JournalEntry } from '../../src/index.ts'
import { mostEvidence } from '../../src/verdict/rule.ts'
import { act, emptyPage, journal, state } from './connection.ts'
import { Done, goTo } from './notices.tsx'

const mostRows = 100

const text = signal('')
/** Ids of the only entries to show; none for all. */
const evidence = signal<readonly number[]>([])
const open = signal<number | undefined>(undefined)
/** What the table shows while it is looked at, so that rows do not run away. */
const held = signal<readonly JournalEntry[] | undefined>(undefined)

const matching = computed(() => {
  const entries = held.value ?? journal.value
  const wanted = text.value.toLowerCase()
  return entries.filter(
    (entry) =>
      (evidence.value.length === 0 || evidence.value.includes(entry.id)) &&
      (wanted === '' || textOf(entry).includes(wanted)),
  )
})

/**
 * Shows these entries alone and all of them, as the evidence of a finding: no filter hides one. The focus moves there, so the
 * next Tab is the journal's.
 */
export function showEntries(ids: readonly number[]): void {
  held.value = undefined
  evidence.value = ids
  text.value = ''
  goTo('journal')
}

export function Journal() {
  const entries = matching.value
  const isEvidence = evidence.value.length > 0
  const rows = isEvidence ? entries : entries.slice(-mostRows).toReversed()
  const isFiltered = text.value !== ''
  return (
    <section class="card wide" aria-labelledby="journal">
      <h2 id="journal" tabIndex={-1}>
        Journal
      </h2>
      <form class="actions" role="search" aria-label="journal" onSubmit={(event) => event.preventDefault()}>
        <label>
          Text{' '}
          <input
            type="search"
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        {isEvidence && (
          <button type="button" onClick={() => (evidence.value = [])}>
            Show all entries
          </button>
        )}
        <button type="button" class="quiet" onClick={() => void clear()}>
          Clear journal and verdict
        </button>
      </form>
      <Done where="journal" />
      {rows.length === 0 ? (
        <p class="empty">
          {journal.value.length === 0
            ? 'Each request that reaches an issuer or an API becomes a row here. Click a row to see the reason for the decision.'
            : 'No entry matches.'}
        </p>
      ) : (
        <>
          <p class="soft">
            {shown(rows.length, isEvidence || isFiltered ? entries.length : total())}
            {isEvidence && ' of evidence, oldest first'}
            {isFiltered && ` that match, among ${shown(journal.value.length, total()).toLowerCase()}`}
            {held.value !== undefined && ', paused while the pointer is here'}
            {evidence.value.length >= mostEvidence &&
              `. A finding keeps only its first ${mostEvidence} entries.`}
          </p>
          <div
            class="scroll"
            tabIndex={0}
            role="region"
            aria-label="journal entries"
            onMouseEnter={() => (held.value = journal.value)}
            onMouseLeave={() => (held.value = undefined)}
          >
            <table>
              <thead>
                <tr>
                  {['Time', 'Decision', 'Status', 'Where', 'Request', 'Token', 'Client'].map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((entry) => (
                  <Row key={entry.id} entry={entry} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  )
}

/** Returns how many of how many are shown, such as `The last 100 of 2,529 entries`. */
function shown(rows: number, of: number): string {
  const all = `${of.toLocaleString('en')} ${of === 1 ? 'entry' : 'entries'}`
  return rows >= of ? all : `The last ${rows.toLocaleString('en')} of ${all}`
}

/** Entries since the journal was cleared, whether or not the page has them; the state comes a little later. */
const total = (): number => Math.max(state.value?.journal.total ?? 0, journal.value.length)

function Row({ entry }: { entry: JournalEntry }) {
  const isOpen = open.value === entry.id
  const bad = ['refused', 'limited', 'failed'].includes(entry.decision)
  return (
    <>
      <tr
        class={bad ? 'entry bad' : 'entry'}
        // the button's press is one of the row, too; a selection is for copying
        onClick={() => {
          if (getSelection()?.isCollapsed !== false) open.value = isOpen ? undefined : entry.id
        }}
      >
        <td>{entry.at.slice(11, 23)}</td>
        <td>
          <button
            type="button"
            class="quiet"
            aria-label={`${entry.decision}: ${requestOf(entry)}, ${entry.at.slice(11, 19)}`}
            aria-expanded={isOpen}
          >
            {entry.decision}
          </button>
        </td>
        <td>{statusOf(entry)}</td>
        <td>{entry.target}</td>
        <td class="request">{requestOf(entry)}</td>
        <td>{entry.token ?? ''}</td>
        <td>{entry.client}</td>
      </tr>
      {isOpen && (
        <tr class="reason">
          <td colSpan={7}>
            <div>
              {entry.reason} (request {entry.id}, connection {entry.connection})
            </div>
          </td>
        </tr>
      )}
    </>
  )
}

const requestOf = ({ method, path }: JournalEntry): string =>
  method === null ? 'TLS handshake' : `${method} ${path}`

/** A TLS handshake that was answered has no status, and its connection went on. */
function statusOf(entry: JournalEntry): string {
  if (entry.status !== null) return `${entry.status}`
  return entry.decision === 'answered' ? '' : 'cut'
}

async function clear(): Promise<void> {
  if (!(await act('clear-journal', {}, 'journal', 'The journal and the verdict were cleared.'))) return
  batch(() => {
    evidence.value = []
    held.value = undefined
    emptyPage()
  })
}

const textOf = (entry: JournalEntry): string =>
  [entry.decision, statusOf(entry), entry.target, requestOf(entry), entry.token, entry.client, entry.reason]
    .join(' ')
    .toLowerCase()
