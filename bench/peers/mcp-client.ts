import { ClientCredentialsProvider, withOAuth, type OAuthDiscoveryState } from '@modelcontextprotocol/client'

import type { CreatePeer } from '../support/peer.ts'

/** As its documentation shows it. It knows the authorization server already, so discovery costs it nothing. */
export const mcpClient: CreatePeer = (service) => {
  const { tokenUrl, apiUrl, clientId, clientSecret, scope, fetch } = service
  const issuer = new URL(tokenUrl).origin
  const discovered: OAuthDiscoveryState = {
    authorizationServerUrl: issuer,
    resourceMetadata: { resource: new URL('/', apiUrl).href },
    authorizationServerMetadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: tokenUrl,
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  }
  const provider = Object.assign(
    new ClientCredentialsProvider({
      clientId,
      clientSecret,
      expectedIssuer: issuer,
      ...(scope !== undefined && { scope }),
    }),
    {
      discoveryState: () => discovered,
      // the authorization server of the benches knows no `resource`
      validateResourceURL: async (): Promise<undefined> => {},
    },
  )
  const managed = withOAuth(provider)((input, init) => fetch(input, init))
  return {
    async call(url = apiUrl) {
      const response = await managed(url)
      await response.arrayBuffer()
      return response.status
    },
  }
}
