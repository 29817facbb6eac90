import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { redisTokenStore } from '../src/index.ts'
import { clientKinds, connectClient } from './clients.ts'
import { useRedis } from './support/use-redis.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

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
async function join(
  kind: (typeof clientKinds)[number],
  count: number,
  url: string = redis.server.url,
): Promise<TokenManager[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await connectClient(kind, url)
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

/** How often Redis ran each command. */
async function commands(): Promise<Record<string, number>> {
  const info = await redis.client.info('commandstats')
  return Object.fromEntries(
    Array.from(info.matchAll(/cmdstat_(\S+?):calls=(\d+)/g), ([, name, calls]) => [name, Number(calls)]),
  )
}

test.each(clientKinds.flatMap((kind) => [200, 1_000].map((takes) => [kind, takes] as const)))(
  'with %s a token request of %d ms costs three scripts and subscriptions per process at most',
  async (kind, takes) => {
    issuer.takes = takes
    const processes = await join(kind, 24)
    await redis.client.configResetStat()
    const values = await Promise.all(
      processes.map(async (tokens) => (await tokens.getToken('general')).value),
    )
    expect(new Set(values)).toEqual(new Set(['token-1']))
    const { evalsha = 0, eval: sent = 0, subscribe = 0 } = await commands()
    // one more each where no message wakes them, and they look again
    expect((evalsha + sent + subscribe) / processes.length).toBeLessThanOrEqual(3)
  },
)

test.each(clientKinds)('the second connection of %s ends with the first', async (kind) => {
  issuer.takes = 200
  const connections = async (): Promise<number> => (await redis.client.clientList()).length
  const only = { timeout: 60_000 }
  await vi.waitFor(async () => expect(await connections()).toBe(1), only)
  const processes = await join(kind, 2)
  await Promise.all(processes.map((tokens) => tokens.getToken('general')))
  expect(await connections()).toBe(1 + 2 + 1)
  for (const end of open.splice(0)) await end()
  await vi.waitFor(async () => expect(await connections()).toBe(1), only)
})

test.each(clientKinds)('24 processes of %s behind a refused client cost one token request', async (kind) => {
  Object.assign(issuer, { takes: 200, refuses: true })
  const processes = await join(kind, 24)
  const outcomes = await Promise.allSettled(processes.map((tokens) => tokens.getToken('general')))
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ reason: { code: 'TOKEN_REQUEST_REFUSED', oauthError: 'invalid_client' } })
  expect(issuer.requests).toBe(1)
})

test.each(clientKinds)(
  'processes of a %s user who may not use channels look again by themselves',
  async (kind) => {
    await redis.client.sendCommand([
      'ACL',
      'SETUSER',
      'quiet',
      'on',
      '>secret',
      '~*',
      '+@all',
      'resetchannels',
    ])
    issuer.takes = 200
    const processes = await join(kind, 6, redis.server.url.replace('redis://', 'redis://quiet:secret@'))
    const values = await Promise.all(
      processes.map(async (tokens) => (await tokens.getToken('general')).value),
    )
    expect(new Set(values)).toEqual(new Set(['token-1']))
  },
)
