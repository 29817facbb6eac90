import type { Driver } from '@tokenlane/conformance'
import { fetchErrors, fetchLimits, sendByFetch } from '@tokenlane/testing/fetch-driver'

import { createFetch, type TokenlaneFetch } from '../src/index.ts'

export const driver: Driver<TokenlaneFetch> = {
  name: 'fetch',
  create: () => globalThis.fetch,
  attach: (fetch, tokens) => ({ client: createFetch(tokens, { fetch }) }),
  send: sendByFetch,
  errors: fetchErrors,
  limits: {
    ...fetchLimits,
    detach: {
      reason: '`createFetch` makes a new function.',
      instead: 'The `fetch` passed to it sends no token.',
    },
  },
}
