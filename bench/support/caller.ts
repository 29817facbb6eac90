import type { CallerOrder, Load, Task } from '../children/caller.ts'
import { startChild, tellOf } from './child.ts'
import type { Figure, Round } from './round.ts'
import type { VariantName } from './variants.ts'

/** A process that makes calls of one variant through one client. */
export interface Caller {
  /** The variants that its client has. */
  readonly variants: readonly VariantName[]
  round(round: Round): Promise<Figure>
  /** Makes as many calls as it can for `ms` milliseconds, at most `concurrency` at a time. */
  load(ms: number, concurrency: number): Promise<Load>
  /** Returns the bytes of heap that stay when garbage is collected. */
  heap(): Promise<number>
  stop(): void
}

export async function startCaller(order: CallerOrder): Promise<Caller> {
  const child = startChild('caller.ts', order)
  const variants = await tellOf<VariantName[]>(child)
  const ask = <T>(task: Task): Promise<T> => {
    const outcome = tellOf<T>(child)
    child.send(task)
    return outcome
  }
  return {
    variants,
    round: (round) => ask({ task: 'round', ...round }),
    load: (ms, concurrency) => ask({ task: 'load', ms, concurrency }),
    heap: () => ask({ task: 'heap' }),
    stop: () => child.disconnect(),
  }
}
