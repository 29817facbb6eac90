// One measurement of one queue in a process of its own, so that no other's garbage counts.
import { tokensFor, type Api } from '@tokenlane/core'
import Bottleneck from 'bottleneck'
import PQueue from 'p-queue'
import pThrottle from 'p-throttle'
import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible'

import { orderGiven } from '../support/child.ts'
import { cpuTime } from '../support/figures.ts'

export interface QueueOrder {
  readonly contender: keyof typeof contenders
  readonly calls: number
  /** How many different priorities the calls have. */
  readonly priorities: number
  /** How many of the calls, evenly spread, have a signal of their own and are aborted before the rest drains. */
  readonly aborted: number
}

/** Microseconds of CPU time and bytes of heap, per call; the abort's are per aborted call. */
export interface QueueFigures {
  readonly add: number
  readonly drain: number
  readonly bytes: number
  readonly abort: number
  /** Heap that is still taken when all is over, in bytes. */
  readonly left: number
  /** How many calls still wait after the abort. */
  readonly queued: number
}

/** A queue that is stopped, so that every call waits. */
interface Stopped {
  add(priority: number, signal: AbortSignal | undefined): Promise<unknown>
  start(): void
  queued(): number
}

const slots = 50
const answer = { status: 200, result: undefined, discard() {} }
const attempt = async (): Promise<typeof answer> => answer

const contenders = {
  async tokenlane(): Promise<Stopped> {
    const baseUrl = 'https://api.example.com/'
    const tokens = tokensFor({
      tokenEndpoint: 'https://auth.example.com/token',
      credentials: { clientId: 'client', clientSecret: 'secret' },
      baseUrl,
      ratePolicy: { limits: [{ quota: 1_000_000, window: 1_000 }], concurrency: slots },
      fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
    })
    const api = tokens.route(baseUrl) as Api
    const held = await Promise.all(Array.from({ length: slots }, async () => api.admit()))
    return {
      add: (priority, signal) => api.send(attempt, { priority, signal }),
      start() {
        for (const pass of held) pass.release()
      },
      queued: () => tokens.status().apis[0]?.queued ?? 0,
    }
  },
  async 'p-queue'(): Promise<Stopped> {
    const queue = new PQueue({ concurrency: slots, autoStart: false })
    return {
      add: (priority, signal) => queue.add(attempt, { priority, ...(signal && { signal }) }),
      start: () => void queue.start(),
      queued: () => queue.size,
    }
  },
  async 'p-throttle'(): Promise<Stopped> {
    // it has no line to stop: the first calls go at once, the others wait for their timers
    const throttled = pThrottle({ limit: 1_000, interval: 10 })(attempt)
    return { add: () => throttled(), start() {}, queued: () => throttled.queueSize }
  },
  async 'rate-limiter-flexible'(): Promise<Stopped> {
    // nor has it: its line waits for the next second of its limiter
    const limiter = new RateLimiterMemory({ points: 10_000_000, duration: 1 })
    const line = new RateLimiterQueue(limiter, { maxQueueSize: 10_000_000 })
    let waiting = 0
    return {
      async add() {
        waiting += 1
        await line.removeTokens(1)
        waiting -= 1
        return attempt()
      },
      start() {},
      queued: () => waiting,
    }
  },
  async bottleneck(): Promise<Stopped> {
    const limiter = new Bottleneck({ maxConcurrent: slots })
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    for (let slot = 0; slot < slots; slot += 1) void limiter.schedule(() => opened)
    // its priorities are 0 to 9, and 0 goes first
    return {
      add: (priority) => limiter.schedule({ priority: 9 - Math.min(9, priority) }, attempt),
      start: open,
      queued: () => limiter.queued(),
    }
  },
}

async function measure(order: QueueOrder): Promise<QueueFigures> {
  const queue = await contenders[order.contender]()
  const before = heap()
  const figures = await run(queue, order, before)
  return { ...figures, left: heap() - before }
}

async function run(
  queue: Stopped,
  { calls, priorities, aborted }: QueueOrder,
  before: number,
): Promise<Omit<QueueFigures, 'left'>> {
  const controllers = Array.from({ length: aborted }, () => new AbortController())
  const every = calls / Math.max(1, aborted)
  const addStart = cpuTime()
  const waiting = Array.from({ length: calls }, (_, index) => {
    const signal = index % every === 0 ? controllers[index / every]?.signal : undefined
    return queue.add((index * 7_919) % priorities, signal)
  })
  const added = cpuTime() - addStart
  const bytes = heap() - before
  const ended = Promise.allSettled(waiting)
  const abortStart = cpuTime()
  for (const controller of controllers) controller.abort()
  const abort = cpuTime() - abortStart
  const queued = queue.queued()
  const drainStart = cpuTime()
  queue.start()
  await ended
  const drained = cpuTime() - drainStart
  return {
    add: added / calls,
    drain: drained / calls,
    bytes: bytes / calls,
    abort: abort / Math.max(1, aborted),
    queued,
  }
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

process.send?.(await measure(await orderGiven<QueueOrder>()))
process.disconnect()
