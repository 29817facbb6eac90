import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'

const { AUTH_URL = '', API_URL = '' } = process.env

// once for each instance: a manager in the handler would ask for a token at each event
export const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({
      authUrl: AUTH_URL,
      credentials: envCredentials('GENERAL'),
      // well below the function's own timeout
      maxWait: 3_000,
    }),
  },
  apis: [{ baseUrl: API_URL, issuer: 'general' }],
  observe: (event) => console.log(JSON.stringify(event)),
})

export interface Event {
  pathParameters: { id: string }
}

export interface Result {
  statusCode: number
  body: string
}

export const urlOf = ({ pathParameters: { id } }: Event): URL =>
  new URL(`records/${encodeURIComponent(id)}`, API_URL)
