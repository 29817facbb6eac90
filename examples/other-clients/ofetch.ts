import { isTokenlaneError, type TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { createFetch as createOfetch, Headers, type $Fetch } from 'ofetch'

/** Returns an ofetch that sends each call to one of the manager's APIs with a live token. */
export function ofetchWithTokens(tokens: TokenManager, fetch?: typeof globalThis.fetch): $Fetch {
  return createOfetch({
    fetch: createFetch(tokens, { fetch }),
    Headers,
    defaults: {
      // Tokenlane has already retried
      onRequestError({ error, options }) {
        if (isTokenlaneError(error)) options.retry = false
      },
    },
  })
}
