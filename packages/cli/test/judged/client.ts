// Calls both APIs until it is stopped, with Tokenlane.
import { setTimeout as sleep } from 'node:timers/promises'

import { createTokenManager, generalIssuer, weblinkIssuer } from '@tokenlane/core'
import { fileCredentials } from '@tokenlane/core/node'
import { createFetch } from '@tokenlane/fetch'

const {
  AUTH_URL = '',
  API_URL = '',
  WEBLINK_AUTH_URL = '',
  WEBLINK_URL = '',
  GENERAL_CREDENTIALS_FILE = '',
  WEBLINK_CREDENTIALS_FILE = '',
  CALLS_PER_SECOND = '',
  CALLERS = '',
} = process.env
const ratePolicy = { limits: [{ quota: Number(CALLS_PER_SECOND), window: 1_000 }] }

const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({ authUrl: AUTH_URL, credentials: fileCredentials(GENERAL_CREDENTIALS_FILE) }),
    weblink: weblinkIssuer({
      authUrl: WEBLINK_AUTH_URL,
      credentials: fileCredentials(WEBLINK_CREDENTIALS_FILE),
    }),
  },
  apis: [
    { baseUrl: API_URL, issuer: 'general', ratePolicy },
    { baseUrl: WEBLINK_URL, issuer: 'weblink', ratePolicy },
  ],
})
const fetch = createFetch(tokens)

for (const baseUrl of [API_URL, WEBLINK_URL]) {
  let number = 0
  const caller = async (): Promise<never> => {
    for (;;) {
      number += 1
      try {
        const response = await fetch(`${baseUrl}records/INV-${String(number).padStart(7, '0')}`)
        await response.arrayBuffer()
      } catch {
        // a real program tells somebody
      }
      await sleep(20)
    }
  }
  for (let index = 0; index < Number(CALLERS); index += 1) void caller()
}
