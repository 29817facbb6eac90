// One variant of one client in a process of its own, so that no other variant shapes its compiled code. Makes calls
// whenever it is asked to.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import tls from 'node:tls'

import type { ServicePlace } from './http-service.ts'
import { measure, type Round } from '../support/round.ts'
import { type CallOnce, settingAt, type Variants, type VariantName } from '../support/variants.ts'

// no other client is loaded
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
}

/** What a caller is asked for. */
export type Task =
  | ({ readonly task: 'round' } & Round)
  /** Makes calls for `ms` milliseconds. */
  | { readonly task: 'load'; readonly ms: number; readonly concurrency: number }
  | { readonly task: 'heap' }

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

async function outcomeOf(task: Task, call: CallOnce): Promise<unknown> {
  if (task.task === 'round') return measure(call, task)
  if (task.task === 'load') return carryLoad(call, task.ms, task.concurrency)
  return heapAfter()
}

const order = await new Promise<CallerOrder>((resolve) => {
  process.once('message', (message) => resolve(message as CallerOrder))
})
const { url, ca } = order.service
if (ca !== undefined) tls.setDefaultCACertificates([ca])
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
