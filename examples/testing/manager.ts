import { createTokenManager, generalIssuer, type TokenFetch, type TokenManager } from '@tokenlane/core'

/** The manager of the application. A test may give the `fetch` of its token requests. */
export const createTokens = ({ fetch }: { fetch?: TokenFetch } = {}): TokenManager<'general'> =>
  createTokenManager({
    fetch,
    issuers: {
      general: generalIssuer({
        authUrl: 'https://auth.example.com',
        credentials: { clientId: 'app', clientSecret: 'secret' },
      }),
    },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
  })
