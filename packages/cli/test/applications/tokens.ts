// An application's bootstrap, with settings that a test chooses.
import { sharedStore } from '@tokenlane/core/fleet'
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'

const { AUTH_URL = '', API_URL = '', RENEW_BEFORE, REQUEST_TIMEOUT, QUOTA, STORE, WARM_UP } = process.env

const failing = (): never => {
  throw new Error('the store is down')
}

const stores = {
  down: { claim: failing, write: failing, release: failing, drop: failing },
  forgets: { claim: async () => ({ fence: 'any' }), async write() {}, async release() {}, async drop() {} },
}

export const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({
      authUrl: AUTH_URL,
      credentials: envCredentials('GENERAL'),
      ...(RENEW_BEFORE && { renewBefore: Number(RENEW_BEFORE) }),
      ...(REQUEST_TIMEOUT && { requestTimeout: Number(REQUEST_TIMEOUT) }),
    }),
  },
  apis: [
    {
      baseUrl: API_URL,
      issuer: 'general',
      ...(QUOTA && { ratePolicy: { limits: [{ quota: Number(QUOTA), window: 1_000 }] } }),
    },
  ],
  ...(STORE && { store: sharedStore(stores[STORE as keyof typeof stores]) }),
})

if (WARM_UP) await tokens.warmUp()
