import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'

import type { CreatePeer } from '../support/peer.ts'

export const badgateway: CreatePeer = ({ fetch, tokenUrl, apiUrl, clientId, clientSecret, scope }) => {
  const client = new OAuth2Client({
    clientId,
    clientSecret,
    tokenEndpoint: tokenUrl,
    authenticationMethod: 'client_secret_post',
    fetch,
  })
  const wrapper = new OAuth2Fetch({
    client,
    getNewToken: () => client.clientCredentials(scope === undefined ? undefined : { scope: [scope] }),
    scheduleRefresh: false,
  })
  const send = wrapper.mw()
  return {
    authorize: () => wrapper.getAccessToken(),
    async call(url = apiUrl) {
      const response = await send(new Request(url), (request) => fetch(request))
      await response.arrayBuffer()
      return response.status
    },
  }
}
