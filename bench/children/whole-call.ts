// The variants of one client in a process of its own, round by round beside each other.
import { variantsOfAxios } from '../callers/axios.ts'
import { variantsOfFetch } from '../callers/fetch.ts'
import { variantsOfGot } from '../callers/got.ts'
import { variantsOfKy } from '../callers/ky.ts'
import { cpuTime } from '../support/cpu.ts'
import { interleaved } from '../support/rounds.ts'
import { type CallOnce, settingAt, type Variants } from '../support/variants.ts'

const clients = { axios: variantsOfAxios, got: variantsOfGot, ky: variantsOfKy, fetch: variantsOfFetch }

export interface WholeCallOrder {
  readonly client: keyof typeof clients
  readonly serviceUrl: string
  readonly rounds: number
  /** In one round of one variant. */
  readonly calls: number
  readonly concurrency: number
  /** Only these. */
  readonly variants?: readonly string[]
}

/** By variant and round, in microseconds per call. */
export type WholeCallFigures = Record<string, readonly Figure[]>

export interface Figure {
  readonly time: number
  readonly cpu: number
}

async function measure({ client, serviceUrl, rounds, variants, ...load }: WholeCallOrder) {
  const all: Variants = clients[client](await settingAt(serviceUrl))
  const names = Object.keys(all).filter((name) => variants?.includes(name) ?? true)
  const callOf = (name: string): CallOnce => all[name as keyof Variants] as CallOnce
  // twice, until all is compiled and connected
  await interleaved(names, 2, (name) => round(callOf(name), load))
  const figures = await interleaved(names, rounds, (name) => round(callOf(name), load))
  return Object.fromEntries(figures)
}

async function round(
  call: CallOnce,
  { calls, concurrency }: Pick<WholeCallOrder, 'calls' | 'concurrency'>,
): Promise<Figure> {
  // no garbage collection by hand: V8 drops code that has not run for some of them
  const start = performance.now()
  const cpuStart = cpuTime()
  let left = calls
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  return { time: ((performance.now() - start) * 1_000) / calls, cpu: (cpuTime() - cpuStart) / calls }
}

const order = await new Promise<WholeCallOrder>((resolve) => {
  process.once('message', (message) => resolve(message as WholeCallOrder))
})
process.send?.((await measure(order)) satisfies WholeCallFigures, () => process.exit())
