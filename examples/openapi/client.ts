import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './schema.ts'

/** A typed client of the records API, with tokens. */
export function createRecordsClient(tokens: TokenManager, baseUrl: string): Client<paths> {
  return createClient<paths>({ baseUrl, fetch: createFetch(tokens) })
}
