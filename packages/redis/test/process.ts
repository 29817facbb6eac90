import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:https'
import { createTokenManager, generalIssuer, type TokenlaneEvent, type TokenManager } from '@tokenlane/core'
import { redisTokenStore } from '../src/index.ts'
import { connectClient } from './clients.ts'
import type { Order, Plan, Result } from './processes.ts'

// One process of a fleet: does what its parent tells it, and tells it before it asks the issuer.

const plan = JSON.parse(process.argv[2] ?? '') as Plan
const client = await connectClient(plan.client, plan.redisUrl)
const agent = new Agent({ keepAlive: true, maxSockets: 8 })
const events: TokenlaneEvent['type'][] = []
let allowed: (() => void) | undefined

let tokens = join()

function join(requestTimeout?: number): TokenManager {
  return createTokenManager({
    issuers: {
      general: generalIssuer({
        authUrl: plan.authUrl,
        credentials: plan.credentials,
        requestTimeout,
      }),
    },
    apis: [{ baseUrl: plan.apiUrl, issuer: 'general' }],
    store: redisTokenStore({ client }),
    observe: ({ type }) => events.push(type),
    async fetch(url, init) {
      const { promise, resolve } = Promise.withResolvers<void>()
      allowed = resolve
      process.send?.('asking')
      await promise
      return fetch(url, init)
    },
  })
}

async function call(): Promise<number | undefined> {
  return tokens.route(plan.apiUrl)?.send(async (authorization) => {
    const request = get(`${plan.apiUrl}slow?ms=5`, { headers: { authorization }, agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response.resume(), 'end')
    const { statusCode: status = 0 } = response
    return { status, result: status, discard() {} }
  })
}

/** The first calls of a new manager: all at once, for a token. */
async function getTokens(count: number, requestTimeout?: number): Promise<Result> {
  tokens = join(requestTimeout)
  events.length = 0
  const started = performance.now()
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => tokens.getToken('general')))
  const values = new Set(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.value : '')),
  )
  const lost = outcomes.filter(({ status }) => status === 'rejected').length
  return { calls: count, lost, tokens: [...values], events, took: performance.now() - started }
}

const orders = { stopped: false }

/** Calls of the API one after the other in some lanes, until the parent says stop; the manager's last. */
async function load(lanes: number): Promise<Result> {
  const started = performance.now()
  let calls = 0
  let lost = 0
  const lane = async (): Promise<void> => {
    while (!orders.stopped) {
      calls += 1
      const status = await call().catch(() => 0)
      if (status !== 200) lost += 1
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  // or a renewal that it has begun would meddle with what comes next
  await tokens.close()
  return { calls, lost, tokens: [], events, took: performance.now() - started }
}

process.on('message', (order: Order) => {
  if (order === 'go') return allowed?.()
  orders.stopped = order === 'stop'
  if (order === 'stop') return
  const work = 'first' in order ? getTokens(order.first, order.requestTimeout) : load(order.load)
  void work.then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
