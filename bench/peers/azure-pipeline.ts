import {
  bearerTokenAuthenticationPolicy,
  createHttpHeaders,
  createPipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline'

import { askForToken, type CreatePeer } from '../support/peer.ts'

/** Its bearer policy, which caches and renews. */
export const azurePipeline: CreatePeer = (service) => {
  const { fetch, apiUrl } = service
  const policy = bearerTokenAuthenticationPolicy({
    scopes: 'api',
    credential: {
      async getToken() {
        const { token, lifetime } = await askForToken(service)
        return { token, expiresOnTimestamp: Date.now() + lifetime }
      },
    },
  })
  const request = createPipelineRequest({ url: apiUrl })
  const answer = Promise.resolve<PipelineResponse>({ request, status: 200, headers: createHttpHeaders() })
  return {
    authorize: () => policy.sendRequest(request, () => answer),
    async call(url = apiUrl) {
      const { status } = await policy.sendRequest(createPipelineRequest({ url }), async (sent) => {
        const response = await fetch(url, { headers: sent.headers.toJSON() })
        await response.arrayBuffer()
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
