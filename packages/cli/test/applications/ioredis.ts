// The bootstrap of an application that shares its token on Redis by ioredis, which connects in the background.
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { redisTokenStore } from '@tokenlane/redis'
import { Redis } from 'ioredis'

const { AUTH_URL = '', API_URL = '', REDIS_URL = '' } = process.env

const client = new Redis(REDIS_URL)
client.on('error', () => {})

export const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: API_URL, issuer: 'general' }],
  store: redisTokenStore({ client }),
})
