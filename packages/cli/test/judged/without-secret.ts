// Calls both APIs until it is stopped, with Tokenlane and the assertions of files: for the scenes about assertions.
import { setTimeout as sleep } from 'node:timers/promises'

import { createTokenManager, envCredentials, oauthIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

const {
  AUTH_URL = '',
  API_URL = '',
  WEBLINK_AUTH_URL = '',
  WEBLINK_URL = '',
  WEBLINK_SCOPE = '',
  CALLERS = '',
} = process.env

const tokens = createTokenManager({
  issuers: {
    // the variables name a client, the file with its assertion, and in one scene a secret
    general: oauthIssuer({ issuer: AUTH_URL, credentials: envCredentials('GENERAL') }),
    weblink: oauthIssuer({
      issuer: WEBLINK_AUTH_URL,
      scope: WEBLINK_SCOPE,
      credentials: envCredentials('WEBLINK'),
    }),
  },
  apis: [
    { baseUrl: API_URL, issuer: 'general' },
    { baseUrl: WEBLINK_URL, issuer: 'weblink' },
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
