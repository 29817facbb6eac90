import type { TokenManager } from '@tokenlane/core'
import { createFetch, type CreateFetchOptions } from '@tokenlane/fetch'
import { GraphQLClient } from 'graphql-request'

/** Creates a GraphQL client of the records API; its calls have tokens. */
export function createRecordsClient(
  tokens: TokenManager,
  url: string,
  options?: CreateFetchOptions,
): GraphQLClient {
  return new GraphQLClient(url, { fetch: createFetch(tokens, options) })
}

export const recordById = /* GraphQL */ `
  query ($id: ID!) {
    record(id: $id) {
      amount
    }
  }
`
