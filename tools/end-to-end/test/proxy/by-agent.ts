import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { ProxyAgent, fetch as undiciFetch } from 'undici'

const { AUTH_URL: authUrl = '', API_URL: apiUrl = '', PROXY: uri = '' } = process.env

// undici's own fetch: its dispatchers do not fit the fetch that Node brings along
const dispatcher = new ProxyAgent({ uri, requestTls: { minVersion: 'TLSv1.2' } })
const proxied = ((url: string, init: object) =>
  undiciFetch(url, { ...init, dispatcher })) as unknown as typeof globalThis.fetch

const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: apiUrl, issuer: 'general' }],
  fetch: proxied,
})
const fetch = createFetch(tokens, { fetch: proxied })
console.log('undici', (await fetch(`${apiUrl}records`)).status)
await tokens.close()
await dispatcher.close()
