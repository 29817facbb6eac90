import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { redisTokenStore } from '../src/index.ts'
import { clientKinds, connectClient } from './clients.ts'
import { useRedis } from './support/use-redis.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

const redis = useRedis()
beforeEach(() => redis.client.flushAll())

const issuer = { requests: 0, takes: 0, refuses: false }
const fetch = async (): Promise<Response> => {
  issuer.requests += 1
  await new Promise((resolve) => setTimeout(resolve, issuer.takes))
  if (issuer.refuses) return Response.json({ error: 'invalid_client' }, { status: 401 })
  return Response.json({ access_token: `token-${issuer.requests}`, token_type: 'Bearer', expires_in: 3_600 })
}

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const end of open.splice(0)) await end()
  Object.assign(issuer, { requests: 0, takes: 0, refuses: false })
})

/** Managers with a connection each, as processes have. */
async function join(kind: (typeof clientKinds)[number], count: number): Promise<TokenManager[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await connectClient(kind, redis.server.url)
      const tokens = createTokenManager({
        issuers: {
          general: {
            tokenEndpoint: 'https://auth.example.com/token',
            credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
          },
        },
        apis: [],
        store: redisTokenStore({ client }),
        fetch,
      })
      open.push(async () => {
        await tokens.close()
        client.destroy()
      })
      return tokens
    }),
  )
}

test.each(clientKinds)('24 processes of %s get one token by one request', async (kind) => {
  issuer.takes = 200
  const processes = await join(kind, 24)
  const values = await Promise.all(processes.map(async (tokens) => (await tokens.getToken('general')).value))
  expect(new Set(values)).toEqual(new Set(['token-1']))
  expect(issuer.requests).toBe(1)
})

test.each(clientKinds)('24 processes of %s behind a refused client cost one token request', async (kind) => {
  Object.assign(issuer, { takes: 200, refuses: true })
  const processes = await join(kind, 24)
  const outcomes = await Promise.allSettled(processes.map((tokens) => tokens.getToken('general')))
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ reason: { code: 'TOKEN_REQUEST_REFUSED', oauthError: 'invalid_client' } })
  expect(issuer.requests).toBe(1)
})
