import type { Backlog } from './admission.ts'
import { finiteDuration } from '../time/finite-duration.ts'

/** Estimates when the last queued call goes out, from the limits, the slots and how long calls took until now. */
export class Progress {
  readonly #roundTrip = new MovingAverage()
  readonly #slotTime = new MovingAverage()

  /** Notes that the response to a call of that time arrived. */
  answered(takenAt: number): void {
    this.#roundTrip.add(performance.now() - takenAt)
  }

  /** Notes that a call of that time gave its slot back. */
  left(takenAt: number): void {
    this.#slotTime.add(performance.now() - takenAt)
  }

  /** Returns the milliseconds until no call is queued any more, always finite. */
  emptyIn({ queued, running, concurrency, limiter, pausedUntil }: Backlog): number {
    if (queued === 0) return 0
    const byLimits = finiteDuration(limiter.forecast(queued, this.#roundTrip.value, pausedUntil))
    if (concurrency === Infinity) return byLimits
    const ends = queued - (concurrency - running)
    const pause = Math.max(0, pausedUntil - performance.now())
    return Math.max(byLimits, pause + (ends / concurrency) * this.#slotTime.value)
  }
}

/** An exponentially weighted average: each new value counts a sixteenth. 0 before the first. */
class MovingAverage {
  value = 0
  #seen = false

  add(next: number): void {
    this.value = this.#seen ? this.value + (next - this.value) / 16 : next
    this.#seen = true
  }
}
