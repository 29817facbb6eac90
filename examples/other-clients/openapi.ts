import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import createClient, { type Client } from 'openapi-fetch'

interface Json<Status extends number, Body> {
  responses: Record<Status, { content: { 'application/json': Body } }>
}
interface Problem {
  status: number
}

/** The part that is called here of what `npx openapi-typescript openapi.yaml -o schema.ts` writes. */
interface Paths {
  '/records': {
    get: { parameters: { query?: { page?: number; size?: number } } } & Json<200, { records: unknown[] }>
  }
  '/records/{id}': {
    get: { parameters: { path: { id: string } } } & Json<200, { id: string }> & Json<404, Problem>
  }
  '/echo': {
    post: { requestBody: { content: { 'application/json': object } } } & Json<
      200,
      { method: string; length: number }
    >
  }
}

/** A typed client of the records API, with tokens. */
export function createRecordsClient(tokens: TokenManager, baseUrl: string): Client<Paths> {
  return createClient<Paths>({ baseUrl, fetch: createFetch(tokens) })
}
