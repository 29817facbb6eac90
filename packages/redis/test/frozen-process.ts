import { createTokenManager, type TokenlaneEvent } from '@tokenlane/core'
import { redisLimiter, redisTokenStore } from '../src/index.ts'
import { type ClientKind, connectClient } from './clients.ts'

// A process of a fleet that `frozen-process.long.ts` freezes. It makes calls as it is told, and says what becomes of them.

/** A command to a process: to begin anew, to make so many calls at once, or to make calls in so many lanes until `stop`. */
export type Order =
  | { readonly url: string; readonly prefix: string; readonly quota: number }
  | { readonly calls: number }
  | { readonly lanes: number }
  | 'stop'

/** What went wrong with calls, and beside them. */
export interface Outcome {
  readonly lost: readonly string[]
  readonly failures: readonly TokenlaneEvent['type'][]
}

const [kind, redisUrl = ''] = process.argv.slice(2)
const client = await connectClient(kind as ClientKind, redisUrl)
const failures: TokenlaneEvent['type'][] = []
const lost: string[] = []
const orders = { stopped: false }
let call: () => Promise<number | undefined>

function begin({ url, prefix, quota }: Extract<Order, { url: string }>): void {
  failures.length = lost.length = 0
  const baseUrl = `${url}/api/`
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: `${url}/token`,
        credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
        allowInsecureLoopback: true,
        maxWait: 3_000,
      },
    },
    apis: [
      { baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota, window: 1_000 }], maxWait: 20_000 } },
    ],
    store: redisTokenStore({ client, prefix }),
    limiter: redisLimiter({ client, prefix, fallbackShare: 0.25 }),
    observe({ type }) {
      if (type.endsWith('failed')) failures.push(type)
    },
  })
  call = async () =>
    tokens.route(baseUrl)?.send(async (authorization) => {
      const response = await fetch(baseUrl, { headers: { authorization } })
      await response.arrayBuffer()
      const retryAfter = response.headers.get('retry-after') ?? undefined
      return { status: response.status, retryAfter, result: response.status, discard() {} }
    })
}

async function callOnce(): Promise<void> {
  const outcome = await call().catch(String)
  if (outcome !== 200) lost.push(String(outcome))
}

async function lane(): Promise<void> {
  while (!orders.stopped) await callOnce()
}

function work(order: Exclude<Order, 'stop'>): readonly Promise<void>[] {
  if ('calls' in order) return Array.from({ length: order.calls }, callOnce)
  if ('lanes' in order) return Array.from({ length: order.lanes }, lane)
  begin(order)
  return []
}

process.on('message', (order: Order) => {
  orders.stopped = order === 'stop'
  if (order === 'stop') return
  void Promise.all(work(order)).then(() => process.send?.({ lost, failures } satisfies Outcome))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
