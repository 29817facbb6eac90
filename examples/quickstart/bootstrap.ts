import { attachTokens } from '@tokenlane/axios'
import {
  createTokenManager,
  generalIssuer,
  weblinkIssuer,
  type CredentialsProvider,
  type Observer,
  type TokenManager,
} from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import type { AxiosInstance } from 'axios'

/** What an application reads from its configuration, and the clients that it has already. */
export interface Parts {
  service: { authUrl: string; weblinkAuthUrl: string; apiUrl: string; weblinkUrl: string }
  credentials: { general: CredentialsProvider; weblink: CredentialsProvider }
  fetch: typeof globalThis.fetch
  axios: AxiosInstance
  observe: Observer
}

/** Everything that Tokenlane needs: which issuers there are, which APIs take their tokens, which clients call. */
export function bootstrap({ service, credentials, observe, ...clients }: Parts): {
  tokens: TokenManager
  fetch: typeof globalThis.fetch
} {
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: service.authUrl, credentials: credentials.general }),
      weblink: weblinkIssuer({ authUrl: service.weblinkAuthUrl, credentials: credentials.weblink }),
    },
    apis: [
      { baseUrl: service.apiUrl, issuer: 'general' },
      { baseUrl: service.weblinkUrl, issuer: 'weblink' },
    ],
    observe,
  })
  attachTokens(clients.axios, tokens)
  return { tokens, fetch: createFetch(tokens, { fetch: clients.fetch }) }
}
