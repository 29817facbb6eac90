/** One page of records, as both APIs answer it. */
export interface Page {
  page: number
  pages: number
  total: number
  records: { id: string }[]
}

/** Reads one page with a client of the application's choice; rejects if there is no page. */
export type GetPage = (url: string) => Promise<Page>

/** What the application itself saw of its calls. */
export interface Reading {
  calls: number
  answered: number
  records: number
  /** Why calls were lost, one text each. */
  lost: string[]
}

export const createReading = (): Reading => ({ calls: 0, answered: 0, records: 0, lost: [] })

const pageSize = 100
const pagesAtOnce = 4

/** Reads all records page by page, a few pages at once, again and again until `signal` aborts. */
export async function readRecords(
  getPage: GetPage,
  { baseUrl, signal, reading }: { baseUrl: string; signal: AbortSignal; reading: Reading },
): Promise<void> {
  let turn = 0
  let pages = Number.POSITIVE_INFINITY

  const readOn = async (): Promise<void> => {
    while (!signal.aborted) {
      const page = (turn++ % pages) + 1
      reading.calls += 1
      try {
        const answer = await getPage(`${baseUrl}records?page=${page}&size=${pageSize}`)
        mustBeWhole(answer, page)
        pages = answer.pages
        reading.answered += 1
        reading.records += answer.records.length
      } catch (error) {
        reading.lost.push(error instanceof Error ? error.message : String(error))
        // the run has failed already, and calls that fail at once must not spin
        return
      }
    }
  }
  await Promise.all(Array.from({ length: pagesAtOnce }, readOn))
}

function mustBeWhole({ page, total, records }: Page, asked: number): void {
  const expected = Math.min(pageSize, total - (asked - 1) * pageSize)
  if (page === asked && records.length === expected) return
  throw new Error(`page ${asked} came as page ${page} with ${records.length} of ${expected} records`)
}
