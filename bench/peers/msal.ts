import { ConfidentialClientApplication } from '@azure/msal-node'

import { callWith, tokenUrl, type CreatePeer } from '../support/peer.ts'

const authority = 'https://login.example.com/tenant/'

export const msal: CreatePeer = (fetch) => {
  const client = new ConfidentialClientApplication({
    auth: {
      clientId: 'client',
      clientSecret: 'secret',
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
        async sendPostRequestAsync<T>(url: string) {
          const response = await fetch(url, { method: 'POST' })
          const text = await response.text()
          const body = (text.startsWith('{') ? JSON.parse(text) : {}) as T
          return { status: response.status, headers: Object.fromEntries(response.headers), body }
        },
      },
    },
  })
  const authorize = async (): Promise<string> => {
    const answer = await client.acquireTokenByClientCredential({ scopes: ['api/.default'] })
    return `Bearer ${answer?.accessToken}`
  }
  return { authorize, call: async () => callWith(fetch, await authorize()) }
}
