// One process of a fleet: makes as many calls at once as its parent says, and reports their outcomes.
import tls from 'node:tls'
import { createTokenManager, generalIssuer, type RatePolicy } from '@tokenlane/core'
import type { Sandbox } from '@tokenlane/sandbox'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { type RedisClient, redisLimiter } from '../../src/index.ts'

export interface FleetOrder {
  readonly sandbox: Pick<Sandbox, 'authUrl' | 'apiUrl' | 'ca' | 'credentials'>
  readonly port: number
  readonly client: 'redis' | 'ioredis'
  readonly ratePolicy: RatePolicy
  readonly fallbackShare: number
  readonly timeout?: number
  readonly reconnectTime?: number
}

/** Told when it is ready, at every event of the limiter, and when all calls have ended. */
export type FleetNews = 'ready' | 'limiter.failed' | 'limiter.recovered' | { readonly outcomes: string[] }

const tell = (news: FleetNews): void => void process.send?.(news)

async function join({ sandbox, port, client, ratePolicy, ...options }: FleetOrder): Promise<void> {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
  const { authUrl, apiUrl, credentials } = sandbox
  const tokens = createTokenManager({
    issuers: { general: generalIssuer({ authUrl, credentials: credentials.general }) },
    apis: [{ baseUrl: apiUrl, issuer: 'general', ratePolicy }],
    limiter: redisLimiter({ client: await connect(port, client), ...options }),
    observe({ type }) {
      if (type === 'limiter.failed' || type === 'limiter.recovered') tell(type)
    },
  })
  await tokens.warmUp()
  const api = tokens.route(apiUrl)
  const call = async (): Promise<string> => {
    const status = await api?.send(async (authorization) => {
      const response = await fetch(`${apiUrl}records?limit=1`, { headers: { authorization } })
      await response.arrayBuffer()
      const retryAfter = response.headers.get('retry-after')
      return { status: response.status, retryAfter, result: response.status, discard() {} }
    })
    return String(status)
  }
  process.on('message', (count: number) => {
    const calls = Array.from({ length: count }, () => call().catch((error: unknown) => String(error)))
    void Promise.all(calls).then((outcomes) => tell({ outcomes }))
  })
  tell('ready')
}

async function connect(port: number, client: 'redis' | 'ioredis'): Promise<RedisClient> {
  if (client === 'ioredis') return new Redis(port, { retryStrategy: () => 50 }).on('error', () => {})
  const connected = createClient({
    url: `redis://127.0.0.1:${port}`,
    socket: { reconnectStrategy: () => 50 },
  })
  connected.on('error', () => {})
  await connected.connect()
  return connected
}

process.once('message', (order: FleetOrder) => void join(order))
process.once('disconnect', () => process.exit())
