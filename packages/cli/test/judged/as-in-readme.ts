// Calls the general API until it is stopped, with Tokenlane as the README shows it: the secret is in the environment.
import { setTimeout as sleep } from 'node:timers/promises'

import { envCredentials, tokensFor } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

const { API_URL = '', GENERAL_TOKEN_URL = '', CALLS_PER_SECOND, CALLERS } = process.env
const tokens = tokensFor({
  baseUrl: API_URL,
  tokenEndpoint: GENERAL_TOKEN_URL,
  credentials: envCredentials('GENERAL'),
  ratePolicy: { limits: [{ quota: Number(CALLS_PER_SECOND), window: 1_000 }] },
})
const fetch = createFetch(tokens)

let number = 0
await Promise.all(
  Array.from({ length: Number(CALLERS) }, async () => {
    for (;;) {
      number += 1
      const call = fetch(`${API_URL}records/INV-${String(number).padStart(7, '0')}`)
      await call.then((response) => response.arrayBuffer()).catch(() => {})
      await sleep(20)
    }
  }),
)
