import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

/** The application under test: reads an API's records. */
export function createRecords(
  tokens: TokenManager,
  send: typeof fetch = fetch,
) {
  const fetchRecord = createFetch(tokens, { fetch: send })
  return {
    async read(id: string): Promise<unknown> {
      const response = await fetchRecord(
        `https://api.example.com/records/${id}`,
      )
      if (!response.ok) throw new Error(`The API says ${response.status}`)
      return response.json()
    },
  }
}
