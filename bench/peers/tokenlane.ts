import { createTokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

import { apiUrl, tokenUrl, type CreatePeer } from '../support/peer.ts'

export const tokenlane: CreatePeer = (fetch) => {
  const tokens = createTokenManager({
    issuers: {
      general: { tokenEndpoint: tokenUrl, credentials: { clientId: 'client', clientSecret: 'secret' } },
    },
    apis: [{ baseUrl: new URL('/', apiUrl).href, issuer: 'general' }],
    fetch,
  })
  const managed = createFetch(tokens, { fetch })
  const answer = Promise.resolve({ status: 200, result: undefined, discard() {} })
  return {
    // the whole send rule around an attempt that is answered at once
    authorize: () => tokens.route(apiUrl)?.send(() => answer),
    async call() {
      const { status } = await managed(apiUrl)
      return status
    },
  }
}
