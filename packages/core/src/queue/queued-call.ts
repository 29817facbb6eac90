import type { Waiter } from './waiting-calls.ts'
import type { Turn } from './turn.ts'

/** A call that waits for its turn in a lane. */
export class QueuedCall implements Waiter {
  readonly priority: number
  readonly again: boolean
  signal: AbortSignal | undefined
  resolve: (turn: Turn) => void
  reject: (reason: unknown) => void
  readonly enteredAt: number = performance.now()
  timer: ReturnType<typeof setTimeout> | undefined
  gone = false

  constructor(
    priority: number,
    again: boolean,
    signal: AbortSignal | undefined,
    resolve: (turn: Turn) => void,
    reject: (reason: unknown) => void,
  ) {
    this.priority = priority
    this.again = again
    this.signal = signal
    this.resolve = resolve
    this.reject = reject
  }

  /** Holds nothing any more: its place in the line may outlast it. */
  clear(): void {
    this.signal = undefined
    this.resolve = nobody
    this.reject = nobody
  }
}

function nobody(): void {}
