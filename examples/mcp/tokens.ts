import {
  createTokenManager,
  envCredentials,
  oauthIssuer,
} from '@tokenlane/core'

const { MCP_URL = '', MCP_TOKEN_ENDPOINT = '' } = process.env

export const tokens = createTokenManager({
  issuers: {
    mcp: oauthIssuer({
      tokenEndpoint: MCP_TOKEN_ENDPOINT,
      clientAuthentication: 'client_secret_basic',
      credentials: envCredentials('MCP'),
      // required by MCP: restricts the token to this server (RFC 8707)
      parameters: { resource: MCP_URL },
      // only for a server on this machine, such as the example's; elsewhere `https:` is required
      allowInsecureLoopback: true,
    }),
  },
  apis: [{ baseUrl: MCP_URL, issuer: 'mcp' }],
})
