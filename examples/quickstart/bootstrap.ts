import { attachTokens } from '@tokenlane/axios'
import {
  createTokenManager,
  generalIssuer,
  weblinkIssuer,
  type CredentialsProvider,
  type Observer,
  type RatePolicy,
  type TokenManager,
} from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import type { AxiosInstance } from 'axios'
import type { Got } from 'got'
import type { KyInstance } from 'ky'

/** The clients that an application has already; those with the tokens can be used in their place. */
export interface Clients {
  fetch: typeof globalThis.fetch
  axios: AxiosInstance
  got: Got
  ky: KyInstance
}

/** What an application reads from its configuration. */
export interface Parts {
  service: { authUrl: string; weblinkAuthUrl: string; apiUrl: string; weblinkUrl: string }
  credentials: { general: CredentialsProvider; weblink: CredentialsProvider }
  ratePolicies: { general: RatePolicy; weblink: RatePolicy }
  clients: Clients
  observe: Observer
}

/** Everything that Tokenlane needs: which issuers there are, which APIs take their tokens, which clients call. */
export function bootstrap({ service, credentials, ratePolicies, clients, observe }: Parts): {
  tokens: TokenManager
  clients: Clients
} {
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: service.authUrl, credentials: credentials.general }),
      weblink: weblinkIssuer({ authUrl: service.weblinkAuthUrl, credentials: credentials.weblink }),
    },
    apis: [
      { baseUrl: service.apiUrl, issuer: 'general', ratePolicy: ratePolicies.general },
      { baseUrl: service.weblinkUrl, issuer: 'weblink', ratePolicy: ratePolicies.weblink },
    ],
    observe,
  })
  attachTokens(clients.axios, tokens)
  return {
    tokens,
    clients: {
      fetch: createFetch(tokens, { fetch: clients.fetch }),
      axios: clients.axios,
      got: clients.got.extend(gotTokens(tokens)),
      ky: clients.ky.extend(kyTokens(tokens)),
    },
  }
}
