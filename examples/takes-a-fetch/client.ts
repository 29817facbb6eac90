import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { createFetch as createOfetch, type $Fetch } from 'ofetch'

/** An ofetch for the records API, with tokens. */
export function createRecordsClient(tokens: TokenManager, baseURL: string): $Fetch {
  return createOfetch({ fetch: createFetch(tokens) }).create({ baseURL })
}
