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
      // MCP asks for it: the token is for this server alone (RFC 8707)
      parameters: { resource: MCP_URL },
      // for the server on this machine that `service.ts` starts; `https:` is required everywhere else
      allowInsecureLoopback: true,
    }),
  },
  apis: [{ baseUrl: MCP_URL, issuer: 'mcp' }],
})
