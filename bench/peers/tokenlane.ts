import { createTokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

import type { CreatePeer } from '../support/peer.ts'

export const tokenlane: CreatePeer = ({
  fetch,
  tokenUrl,
  apiUrl,
  clientId,
  clientSecret,
  scope,
  ratePolicy,
}) => {
  const tokens = createTokenManager({
    issuers: {
      general: { tokenEndpoint: tokenUrl, scope, credentials: { clientId, clientSecret } },
    },
    apis: [{ baseUrl: new URL('/', apiUrl).href, issuer: 'general', ratePolicy }],
    fetch,
  })
  const managed = createFetch(tokens, { fetch })
  const answer = Promise.resolve({ status: 200, result: undefined, discard() {} })
  return {
    // the whole send rule around an attempt that is answered at once
    authorize: () => tokens.route(apiUrl)?.send(() => answer),
    async call(url = apiUrl) {
      const response = await managed(url)
      await response.arrayBuffer()
      return response.status
    },
  }
}
