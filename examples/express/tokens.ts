import { createTokenManager, envCredentials, generalIssuer, type TokenManager } from '@tokenlane/core'

const { AUTH_URL = '', API_URL = '' } = process.env

export const apiUrl: string = API_URL

export const tokens: TokenManager = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: API_URL, issuer: 'general', ratePolicy: { limits: [{ quota: 25, window: 1_000 }] } }],
  observe(event) {
    if (event.type === 'renewal.failed' || event.type === 'secret.expiring') console.warn(event)
  },
})
