// One variant of one client in a process of its own, so that no other variant shapes its compiled code. Makes calls
// whenever it is asked to.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import tls from 'node:tls'

import type { ServicePlace } from './http-service.ts'
import { cpuTime } from '../support/cpu.ts'
import { profileCpu, weigh } from '../support/profiler.ts'
import { takeOut, type TakenOut } from '../support/taken-out.ts'
import type { CallOnce, Variants, VariantName } from '../support/variants.ts'

// imported when it is known what to take out of the packages
const clients = {
  axios: async () => (await import('../callers/axios.ts')).variantsOfAxios,
  got: async () => (await import('../callers/got.ts')).variantsOfGot,
  ky: async () => (await import('../callers/ky.ts')).variantsOfKy,
  fetch: async () => (await import('../callers/fetch.ts')).variantsOfFetch,
}

export type Client = keyof typeof clients

export interface CallerOrder {
  readonly client: Client
  readonly variant: VariantName
  readonly service: ServicePlace
  /** Left out of the packages. */
  readonly without?: readonly TakenOut[]
}

/** What a caller is asked for. */
export type Task =
  | ({ readonly task: 'round' | 'weigh' } & Round)
  /** Makes calls for `ms` milliseconds. */
  | { readonly task: 'load'; readonly ms: number; readonly concurrency: number }
  | { readonly task: 'heap' }
  /** Ends with the task `shares`. */
  | { readonly task: 'profile' | 'shares' }

/** How many calls to make, and how many of them at a time. */
export interface Round {
  readonly calls: number
  readonly concurrency: number
}

/** In microseconds per call. */
export interface Figure {
  readonly time: number
  readonly cpu: number
  /** Without the threads that compile and collect garbage. */
  readonly mainThread: number
}

async function makeCalls(call: CallOnce, { calls, concurrency }: Round): Promise<void> {
  let left = calls
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
}

async function measure(call: CallOnce, round: Round): Promise<Figure> {
  // no garbage collection by hand: V8 drops code that has not run for some of them
  const start = performance.now()
  const cpuStart = cpuTime()
  const threadStart = process.threadCpuUsage()
  await makeCalls(call, round)
  const thread = process.threadCpuUsage(threadStart)
  return {
    time: ((performance.now() - start) * 1_000) / round.calls,
    cpu: (cpuTime() - cpuStart) / round.calls,
    mainThread: (thread.user + thread.system) / round.calls,
  }
}

/** What as many calls as a process can carry looked like. */
export interface Load {
  /** How long each call took, in microseconds. */
  readonly latencies: readonly number[]
  /** How long the calls were made for, in milliseconds. */
  readonly ms: number
  /** For how long the event loop stood still at most, in milliseconds. */
  readonly longestPause: number
}

async function carryLoad(call: CallOnce, ms: number, concurrency: number): Promise<Load> {
  const latencies: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const start = performance.now()
  const caller = async (): Promise<void> => {
    for (let now = start; now < start + ms;) {
      await call()
      const end = performance.now()
      latencies.push(Math.round((end - now) * 1_000))
      now = end
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  const took = performance.now() - start
  delay.disable()
  return { latencies, ms: took, longestPause: delay.max / 1e6 }
}

/** Returns the bytes of heap that stay. Only at the end: the collection also drops compiled code. */
function heapAfter(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

let endProfile: (() => Promise<unknown>) | undefined

async function outcomeOf(task: Task, call: CallOnce): Promise<unknown> {
  if (task.task === 'round') return measure(call, task)
  if (task.task === 'weigh') return weigh(task.calls, () => makeCalls(call, task))
  if (task.task === 'load') return carryLoad(call, task.ms, task.concurrency)
  if (task.task === 'heap') return heapAfter()
  if (task.task === 'shares') return endProfile?.()
  endProfile = await profileCpu()
  return {}
}

const order = await new Promise<CallerOrder>((resolve) => {
  process.once('message', (message) => resolve(message as CallerOrder))
})
const { url, ca } = order.service
if (ca !== undefined) tls.setDefaultCACertificates([ca])
if (order.without !== undefined) takeOut(order.without)
const { settingAt } = await import('../support/variants.ts')
const variantsOf = await clients[order.client]()
const variants: Variants = variantsOf(await settingAt(url))
const call = variants[order.variant]
if (call !== undefined)
  process.on('message', (task) => {
    void outcomeOf(task as Task, call).then((outcome) => process.send?.(outcome))
  })
// with what there is, so that the parent need not know what each client has
process.send?.(Object.keys(variants))
process.on('disconnect', () => process.exit())
