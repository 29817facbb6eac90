import {
  createTokenManager,
  envCredentials,
  generalIssuer,
} from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

const { AUTH_URL = '', API_URL = '' } = process.env

const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({
      authUrl: AUTH_URL,
      credentials: envCredentials('GENERAL'),
    }),
  },
  apis: [
    {
      baseUrl: API_URL,
      issuer: 'general',
      ratePolicy: { limits: [{ quota: 25, window: 1_000 }], concurrency: 10 },
    },
  ],
})
const fetch = createFetch(tokens)

/** Returns a record. Urgent calls go ahead of the others in the queue. */
export async function readRecord(id: string, urgent = false): Promise<unknown> {
  const response = await fetch(`${API_URL}records/${id}`, {
    tokenlane: { priority: urgent ? 1 : 0 },
  })
  if (!response.ok) throw new Error(`Cannot read ${id}: ${response.status}`)
  return response.json()
}

export async function stop(): Promise<void> {
  await tokens.close()
}
