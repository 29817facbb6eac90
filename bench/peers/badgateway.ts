import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'

import { apiUrl, tokenUrl, type CreatePeer } from '../support/peer.ts'

export const badgateway: CreatePeer = (fetch) => {
  const client = new OAuth2Client({
    clientId: 'client',
    clientSecret: 'secret',
    tokenEndpoint: tokenUrl,
    authenticationMethod: 'client_secret_post',
    fetch,
  })
  const wrapper = new OAuth2Fetch({
    client,
    getNewToken: () => client.clientCredentials(),
    scheduleRefresh: false,
  })
  const send = wrapper.mw()
  return {
    authorize: () => wrapper.getAccessToken(),
    async call() {
      const { status } = await send(new Request(apiUrl), (request) => fetch(request))
      return status
    },
  }
}
