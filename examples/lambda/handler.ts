import { createTokenManager, envCredentials, generalIssuer, isTokenlaneError } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

const { AUTH_URL = '', API_URL = '' } = process.env

// once for each instance: a manager in the handler would ask for a token at each event
const tokens = createTokenManager({
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
const fetch = createFetch(tokens)

interface Event {
  pathParameters: { id: string }
}
interface Result {
  statusCode: number
  body: string
}

export async function handler({ pathParameters: { id } }: Event): Promise<Result> {
  try {
    const response = await fetch(new URL(`records/${encodeURIComponent(id)}`, API_URL))
    return { statusCode: response.status, body: await response.text() }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { statusCode: 503, body: JSON.stringify({ code: error.code }) }
  }
}
