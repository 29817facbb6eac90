// One process of a fleet: makes calls for as long as its parent says, and reports when they went out.
import tls from 'node:tls'
import { createTokenManager, generalIssuer, type Api, type RateLimit } from '@tokenlane/core'
import { redisLimiter } from '@tokenlane/redis'
import { createClient } from 'redis'
import type { Service } from './strict-service.ts'

export interface FleetOrder {
  readonly service: Service
  readonly redisUrl: string
  readonly limits: readonly RateLimit[]
  readonly fallbackShare: number
  /** How many calls it always has ready. */
  readonly callers: number
  /** How long each of these rests after a call, in milliseconds. */
  readonly rest: number
  readonly duration: number
}

/** One call; `at` is on the wall clock, since it is compared between processes. */
export interface FleetCall {
  readonly at: number
  readonly waited: number
}

export interface FleetFigures {
  readonly calls: readonly FleetCall[]
  readonly failures: readonly string[]
  readonly events: readonly string[]
}

async function work({
  service,
  redisUrl,
  limits,
  fallbackShare,
  ...load
}: FleetOrder): Promise<FleetFigures> {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), service.ca])
  const client = createClient({ url: redisUrl, socket: { reconnectStrategy: () => 100 } })
  client.on('error', () => {})
  await client.connect()
  const events: string[] = []
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: service.authUrl, credentials: service.credentials.general }),
    },
    apis: [{ baseUrl: service.apiUrl, issuer: 'general', ratePolicy: { limits } }],
    limiter: redisLimiter({ client, fallbackShare }),
    observe: (event) => event.type.startsWith('limiter.') && events.push(event.type),
  })
  await tokens.warmUp()
  const api = tokens.route(service.apiUrl) as Api
  const calls: FleetCall[] = []
  const failures: string[] = []
  const end = Date.now() + load.duration

  const call = async (): Promise<void> => {
    const asked = performance.now()
    await api.send(async (authorization) => {
      const sent = performance.now()
      const at = Date.now()
      const response = await fetch(`${service.apiUrl}records?limit=1`, { headers: { authorization } })
      await response.arrayBuffer()
      calls.push({ at, waited: sent - asked })
      if (response.status !== 200) failures.push(String(response.status))
      return { status: response.status, result: undefined, discard() {} }
    })
  }
  const caller = async (): Promise<void> => {
    while (Date.now() < end) {
      if (load.rest > 0)
        await new Promise((resolve) => setTimeout(resolve, load.rest * (0.5 + Math.random())))
      await call().catch((error: unknown) => failures.push(String(error)))
    }
  }
  await Promise.all(Array.from({ length: load.callers }, caller))
  await tokens.close()
  client.destroy()
  return { calls, failures, events }
}

const order = await new Promise((resolve) => {
  process.once('message', resolve)
})
process.send?.(await work(order as FleetOrder), () => process.exit())
