// @ts-expect-error it has no types of its own
import * as simpleOauth2 from 'simple-oauth2'

import { callWith, type CreatePeer } from '../support/peer.ts'

interface Token {
  readonly token: { readonly access_token: string }
  expired(): boolean
}

interface SimpleOauth2 {
  readonly ClientCredentials: new (options: object) => { getToken(parameters: object): Promise<Token> }
}

/** As its documentation shows it. It sends token requests by itself, through `node:https`. */
export const simpleOauth2Peer: CreatePeer = (service) => {
  const { tokenUrl, apiUrl, clientId, clientSecret, scope } = service
  const { origin, pathname } = new URL(tokenUrl)
  const { ClientCredentials } = simpleOauth2 as SimpleOauth2
  const client = new ClientCredentials({
    client: { id: clientId, secret: clientSecret },
    auth: { tokenHost: origin, tokenPath: pathname },
    options: { authorizationMethod: 'body' },
  })
  let token: Token | undefined
  return {
    async call(url = apiUrl) {
      if (token === undefined || token.expired())
        token = await client.getToken(scope === undefined ? {} : { scope })
      return callWith(service, url, `Bearer ${token.token.access_token}`)
    },
  }
}
