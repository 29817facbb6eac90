// The bootstrap of an application whose token requests go through a proxy by a `fetch` of its own.
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { fetch, ProxyAgent } from 'undici'

const { AUTH_URL = '', API_URL = '', OWN_PROXY = '' } = process.env

const dispatcher = new ProxyAgent(OWN_PROXY)

export const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: API_URL, issuer: 'general' }],
  fetch: (url, init) => fetch(url, { ...(init as object), dispatcher }) as unknown as Promise<Response>,
})
