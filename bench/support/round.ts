import { cpuTime } from './figures.ts'
import type { CallOnce } from './variants.ts'

/** How many calls to make, and how many of them at a time. */
export interface Round {
  readonly calls: number
  readonly concurrency: number
}

/** In microseconds per call. */
export interface Figure {
  readonly time: number
  readonly cpu: number
}

async function makeCalls(call: CallOnce, { calls, concurrency }: Round): Promise<void> {
  let left = calls
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
}

export async function measure(call: CallOnce, round: Round): Promise<Figure> {
  // no garbage collection by hand: V8 drops code that has not run for some of them
  const start = performance.now()
  const cpuStart = cpuTime()
  await makeCalls(call, round)
  return {
    time: ((performance.now() - start) * 1_000) / round.calls,
    cpu: (cpuTime() - cpuStart) / round.calls,
  }
}
