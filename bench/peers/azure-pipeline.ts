import {
  bearerTokenAuthenticationPolicy,
  createHttpHeaders,
  createPipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline'

import { apiUrl, askForToken, type CreatePeer } from '../support/peer.ts'

/** Its bearer policy, which caches and renews. */
export const azurePipeline: CreatePeer = (fetch) => {
  const policy = bearerTokenAuthenticationPolicy({
    scopes: 'api',
    credential: {
      async getToken() {
        const { token, lifetime } = await askForToken(fetch)
        return { token, expiresOnTimestamp: Date.now() + lifetime }
      },
    },
  })
  const request = createPipelineRequest({ url: apiUrl })
  const answer = Promise.resolve<PipelineResponse>({ request, status: 200, headers: createHttpHeaders() })
  return {
    authorize: () => policy.sendRequest(request, () => answer),
    async call() {
      const { status } = await policy.sendRequest(createPipelineRequest({ url: apiUrl }), async (sent) => {
        const response = await fetch(apiUrl, { headers: sent.headers.toJSON() })
        return {
          request: sent,
          status: response.status,
          headers: createHttpHeaders(Object.fromEntries(response.headers)),
        }
      })
      return status
    },
  }
}
