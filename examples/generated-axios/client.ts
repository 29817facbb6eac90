import { attachTokens } from '@tokenlane/axios'
import type { TokenManager } from '@tokenlane/core'
import { Api } from './records-api.ts'

/** Creates the generated client of the records API; its calls have tokens. */
export function createRecordsApi(tokens: TokenManager, baseURL: string): Api<unknown> {
  const api = new Api({ baseURL })
  attachTokens(api.instance, tokens)
  return api
}
