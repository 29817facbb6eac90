import { createTokenManager, type TokenFetch } from '@tokenlane/core'
import { expect, test } from 'vitest'
import { fetch as undiciFetch } from 'undici'

test('the fetch of npm undici fits the `fetch` option, by its type and at run time', async () => {
  const fetch: TokenFetch = undiciFetch
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://127.0.0.1:1/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
        maxWait: 1,
      },
    },
    apis: [],
    fetch,
  })
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
})
