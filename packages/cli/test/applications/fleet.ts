// The bootstrap of an application that shares its token and its rate budget on Redis.
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { redisLimiter, redisTokenStore } from '@tokenlane/redis'
import { createClient } from 'redis'

const { AUTH_URL = '', API_URL = '', REDIS_URL = '', WAIT_FOR_REDIS, CONNECT = '1' } = process.env

const client = createClient({ url: REDIS_URL })
client.on('error', () => {})
// an application that starts without Redis, too
const connected = CONNECT && client.connect().catch(() => {})
if (WAIT_FOR_REDIS) await connected

export const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: API_URL, issuer: 'general', ratePolicy: { limits: [{ quota: 500, window: 1_000 }] } }],
  store: redisTokenStore({ client }),
  limiter: redisLimiter({ client, fallbackShare: 0.5 }),
})
