// Calls APIs of all kinds of response time at once in one way of keeping a quota, each as the way's own documentation says.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { tokensFor, type RatePolicy } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import Bottleneck from 'bottleneck'
import PQueue from 'p-queue'
import pThrottle from 'p-throttle'
import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible'

import { answerTimes } from '../support/figures.ts'
import { orderGiven } from '../support/child.ts'

export interface CallerOrder {
  readonly way: string
  /** Where the APIs of this way are. */
  readonly url: string
  readonly quota: number
  readonly window: number
  /** How long it calls, in milliseconds. */
  readonly duration: number
}

export interface CallerFigures {
  /** How many calls have ended. */
  readonly calls: number
  /** How many of them were no success. */
  readonly lost: number
  /** For how long the process stood still at most, in milliseconds. */
  readonly pause: number
}

const { way, url, quota, window, duration } = await orderGiven<CallerOrder>()

/** Makes a call when it may go, and returns whether it was a success. */
type Call = () => Promise<boolean>

async function send(api: string, through = fetch): Promise<boolean> {
  const response = await through(api)
  await response.arrayBuffer()
  return response.ok
}

const ways: Readonly<Record<string, (api: string) => Call>> = {
  'Tokenlane, strict': (api) => tokenlane(api, 'strict'),
  'Tokenlane, learned': (api) => tokenlane(api, 'learned'),
  'p-queue, strict'(api) {
    const queue = new PQueue({ intervalCap: quota, interval: window, strict: true })
    return () => queue.add(() => send(api))
  },
  'p-throttle, strict': (api) => pThrottle({ limit: quota, interval: window, strict: true })(() => send(api)),
  'bottleneck, minTime'(api) {
    const limiter = new Bottleneck({ minTime: window / quota })
    return () => limiter.schedule(() => send(api))
  },
  'bottleneck, reservoir'(api) {
    const limiter = new Bottleneck({
      reservoir: quota,
      reservoirRefreshAmount: quota,
      reservoirRefreshInterval: window,
    })
    return () => limiter.schedule(() => send(api))
  },
  'rate-limiter-flexible'(api) {
    const line = new RateLimiterQueue(new RateLimiterMemory({ points: quota, duration: window / 1_000 }))
    return async () => {
      await line.removeTokens(1)
      return send(api)
    }
  },
}

function tokenlane(api: string, accounting: RatePolicy['accounting']): Call {
  const tokens = tokensFor({
    tokenEndpoint: 'https://auth.example.com/token',
    credentials: { clientId: 'client', clientSecret: 'secret' },
    allowInsecureLoopback: true,
    baseUrl: api,
    ratePolicy: { limits: [{ quota, window }], accounting },
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
  })
  const managed = createFetch(tokens)
  return () => send(api, managed)
}

const start = performance.now()
const pauses = monitorEventLoopDelay({ resolution: 5 })
pauses.enable()
let calls = 0
let lost = 0
for (const kind of Object.keys(answerTimes)) {
  const call = ways[way]?.(`${url}${encodeURIComponent(kind)}/`)
  const caller = async (): Promise<void> => {
    while (performance.now() < start + duration) {
      const isSuccess = await call?.().catch(() => false)
      calls += 1
      if (!isSuccess) lost += 1
    }
  }
  // more than are ever under way, so that calls always wait
  for (let callers = 6 * quota; callers > 0; callers -= 1) void caller()
}
setTimeout(() => {
  process.send?.({ calls, lost, pause: pauses.max / 1e6 } satisfies CallerFigures, () => process.exit())
}, duration)
