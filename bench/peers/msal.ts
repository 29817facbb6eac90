import { ConfidentialClientApplication, type NetworkRequestOptions } from '@azure/msal-node'

import { callWith, type CreatePeer } from '../support/peer.ts'

const authority = 'https://login.example.com/tenant/'

export const msal: CreatePeer = (service) => {
  const { fetch, tokenUrl, apiUrl, clientId, clientSecret, scope = 'api/.default' } = service
  const client = new ConfidentialClientApplication({
    auth: {
      clientId,
      clientSecret,
      authority,
      knownAuthorities: ['login.example.com'],
      authorityMetadata: JSON.stringify({
        issuer: authority,
        authorization_endpoint: `${authority}authorize`,
        token_endpoint: tokenUrl,
        jwks_uri: `${authority}keys`,
      }),
    },
    system: {
      networkClient: {
        sendGetRequestAsync: () => Promise.reject(new Error('Cannot answer: all is known')),
        // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- msal's own signature
        async sendPostRequestAsync<T>(url: string, sent?: NetworkRequestOptions) {
          const { headers = {}, body: form } = sent ?? {}
          const response = await fetch(url, {
            method: 'POST',
            headers,
            ...(form !== undefined && { body: form }),
          })
          const text = await response.text()
          const body = (text.startsWith('{') ? JSON.parse(text) : {}) as T
          return { status: response.status, headers: Object.fromEntries(response.headers), body }
        },
      },
    },
  })
  const authorize = async (): Promise<string> => {
    const answer = await client.acquireTokenByClientCredential({ scopes: [scope] })
    return `Bearer ${answer?.accessToken}`
  }
  return { authorize, call: async (url = apiUrl) => callWith(service, url, await authorize()) }
}
