import { ClientSecretPost, Configuration, clientCredentialsGrant, customFetch } from 'openid-client'

import { callWith, type CreatePeer } from '../support/peer.ts'

/** As its documentation shows it: the caller keeps the token, and asks how long it lives. */
export const openidClient: CreatePeer = (service) => {
  const { tokenUrl, apiUrl, clientId, clientSecret, scope, fetch } = service
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const configuration = new Configuration(server, clientId, {}, ClientSecretPost(clientSecret))
  configuration[customFetch] = fetch as never
  let token: Awaited<ReturnType<typeof clientCredentialsGrant>> | undefined
  return {
    async call(url = apiUrl) {
      if (token === undefined || token.expiresIn() === 0)
        token = await clientCredentialsGrant(configuration, scope === undefined ? {} : { scope })
      return callWith(service, url, `Bearer ${token.access_token}`)
    },
  }
}
