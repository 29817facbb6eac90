import type { CallerOrder } from '../children/caller.ts'
import { startChild, tellOf } from './child.ts'
import type { Figure, Round } from './round.ts'
import type { VariantName } from './variants.ts'

/** A process that makes calls of one variant through one client. */
export interface Caller {
  /** The variants that its client has. */
  readonly variants: readonly VariantName[]
  round(round: Round): Promise<Figure>
  stop(): void
}

export async function startCaller(order: CallerOrder): Promise<Caller> {
  const child = startChild('caller.ts', order)
  const variants = await tellOf<VariantName[]>(child)
  return {
    variants,
    round(round) {
      const figure = tellOf<Figure>(child)
      child.send(round)
      return figure
    },
    stop: () => child.disconnect(),
  }
}
