import { ClientCredentialsProvider, withOAuth } from '@modelcontextprotocol/client'

import type { CreatePeer } from '../../support/peer.ts'

/** The provider for client credentials of the MCP SDK, in its middleware for fetch. */
export const mcp: CreatePeer = ({ fetch, tokenUrl, apiUrl, clientId, clientSecret, scope }) => {
  const { origin: issuer } = new URL(tokenUrl)
  const { origin: resource } = new URL(apiUrl)
  // what MCP servers and their authorization servers publish, and the sandbox does not
  const withMetadata: typeof fetch = async (input, init) => {
    const { href } = new URL(input instanceof Request ? input.url : input)
    if (href.includes('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: `${resource}/`, authorization_servers: [issuer] })
    const response = await fetch(input, init)
    if (!href.includes('/.well-known/')) return response
    const metadata = (await response.json()) as object
    return Response.json({ ...metadata, authorization_endpoint: `${issuer}/authorize` })
  }
  const provider = new ClientCredentialsProvider({
    clientId,
    clientSecret,
    expectedIssuer: issuer,
    ...(scope !== undefined && { scope }),
  })
  // the sandbox knows no resource indicators
  const withoutResource = Object.assign(provider, { validateResourceURL: () => Promise.resolve(undefined) })
  const authorized = withOAuth(withoutResource, resource)(withMetadata)
  return {
    async call(url = apiUrl) {
      const response = await authorized(url)
      await response.arrayBuffer()
      return response.status
    },
  }
}
