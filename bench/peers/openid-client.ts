import { ClientSecretPost, Configuration, clientCredentialsGrant, customFetch } from 'openid-client'

import { callWith, type CreatePeer } from '../support/peer.ts'

/** As its documentation shows it: the caller keeps the token. */
export const openidClient: CreatePeer = (service) => {
  const { tokenUrl, apiUrl, clientId, clientSecret, fetch } = service
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const configuration = new Configuration(server, clientId, {}, ClientSecretPost(clientSecret))
  configuration[customFetch] = fetch as never
  let token: string | undefined
  return {
    async call(url = apiUrl) {
      token ??= (await clientCredentialsGrant(configuration)).access_token
      return callWith(service, url, `Bearer ${token}`)
    },
  }
}
