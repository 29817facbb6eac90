import type { Clients } from './bootstrap.ts'

/** One page of records, as both APIs answer it. */
interface Page {
  page: number
  total: number
  records: { id: string }[]
}

/** Reads one page with one client; rejects if there is no page. */
export type GetPage = (url: string) => Promise<Page>

/** How an application reads with each client: it knows nothing of tokens. */
export function readers({ fetch, axios, got, ky }: Clients): Record<keyof Clients, GetPage> {
  return {
    async fetch(url) {
      const response = await fetch(url)
      if (!response.ok) throw new Error(`status ${response.status}`)
      return (await response.json()) as Page
    },
    async axios(url) {
      const { data } = await axios.get<Page>(url)
      return data
    },
    got: (url) => got(url).json<Page>(),
    ky: (url) => ky(url).json<Page>(),
  }
}

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

/** Reads pages of records, all at once: that each goes out when it may is not the application's business. */
export async function readPages(
  getPage: GetPage,
  { baseUrl, pages, reading }: { baseUrl: string; pages: readonly number[]; reading: Reading },
): Promise<void> {
  const read = async (page: number): Promise<void> => {
    reading.calls += 1
    try {
      const answer = await getPage(`${baseUrl}records?page=${page}&size=${pageSize}`)
      mustBeWhole(answer, page)
      reading.answered += 1
      reading.records += answer.records.length
    } catch (error) {
      reading.lost.push(error instanceof Error ? error.message : String(error))
    }
  }
  await Promise.all(pages.map(read))
}

function mustBeWhole({ page, total, records }: Page, asked: number): void {
  const expected = Math.min(pageSize, total - (asked - 1) * pageSize)
  if (page === asked && records.length === expected) return
  throw new Error(`page ${asked} came as page ${page} with ${records.length} of ${expected} records`)
}
