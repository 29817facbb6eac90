import { queueTimer } from '../time/duration.ts'
import type { Demand } from './demand.ts'

export interface Sharer {
  serve(): void
}

/**
 * Gives several queues that share limits one unit each, in turn, while they have waiting calls.
 *
 * A queue whose turn has come asks for its unit. One that cannot use it, because it has no slot, token or call left, is
 * passed over, and goes to the end when it asks again. One timer runs for all of them, and only while calls wait.
 */
export class Turns<Queue extends Sharer> {
  /** The queues that wait, the next one first, and for each kind of their calls, how many units it could use. */
  readonly #waiting = new Map<Queue, Map<string, { readonly demand: Demand; readonly units: number }>>()
  /** The queue that may take a unit, while queues are served. */
  #turn: Queue | undefined
  #isServing = false
  /** When a queue that has asked can take a unit at the earliest, in ms from then. */
  #wait = Infinity
  /** Whether the current queue has to wait, and whether all others have to. */
  #isBlocked = false
  #areAllBlocked = false
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Whether a queue may take a unit now. Otherwise it is served when its turn has come. */
  mayTake(queue: Queue, demand: Demand, units: number): boolean {
    const wants = this.#waiting.get(queue) ?? new Map<string, { demand: Demand; units: number }>()
    // it keeps its place in the order, or goes to the end
    this.#waiting.set(queue, wants.set(demand.key, { demand, units }))
    const [first] = this.#waiting.keys()
    if (queue === (this.#isServing ? this.#turn : first)) return true
    this.serveSoon()
    return false
  }

  took(queue: Queue): void {
    this.#turn = undefined
    this.#waiting.delete(queue)
  }

  /** The current queue can take none for `ms` milliseconds; if all calls are alike, no other queue can. */
  waits(ms: number, areAlike: boolean): void {
    this.#wait = Math.min(this.#wait, ms > 0 ? ms : 1)
    this.#isBlocked = true
    this.#areAllBlocked ||= areAlike
    this.#sleep()
  }

  /** Returns how many units the waiting queues could use for calls of this kind. */
  wanted(key: string): number {
    let sum = 0
    for (const wants of this.#waiting.values()) sum += wants.get(key)?.units ?? 0
    return sum
  }

  /** Returns how many units of the same limits other queues could use, `most` each. */
  wantedBeside(queue: Queue, { key, series }: Demand, most: number): number {
    let sum = 0
    for (const [other, wants] of this.#waiting) {
      if (other === queue) continue
      let units = 0
      for (const { demand, units: more } of wants.values())
        if (demand.key === key || demand.series.some((each) => each !== undefined && series.includes(each)))
          units += more
      sum += Math.min(units, most)
    }
    return sum
  }

  leave(queue: Queue, demand?: Demand): void {
    const wants = this.#waiting.get(queue)
    if (demand !== undefined) wants?.delete(demand.key)
    if (demand === undefined || wants?.size === 0) this.#waiting.delete(queue)
    if (wants !== undefined) this.serveSoon()
    if (this.#waiting.size === 0) clearTimeout(this.#timer)
  }

  /** Serves as soon as the code that runs now has ended: it may still have to judge a response. */
  serveSoon(): void {
    if (!this.#isServing && this.#waiting.size > 0) queueMicrotask(() => this.serve())
  }

  serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    this.#wait = Infinity
    this.#areAllBlocked = false
    // a queue that asks again is at the end of them, and is served again
    for (const queue of this.#waiting.keys()) {
      this.#turn = queue
      this.#isBlocked = false
      queue.serve()
      if (this.#areAllBlocked) break
      // it cannot use a unit now, and asks again when it can
      if (this.#turn === queue && !this.#isBlocked) this.#waiting.delete(queue)
    }
    this.#turn = undefined
    this.#isServing = false
    this.#sleep()
  }

  #sleep(): void {
    clearTimeout(this.#timer)
    if (this.#isServing || this.#waiting.size === 0 || this.#wait === Infinity) return
    this.#timer = queueTimer(this.#wait, () => this.serve())
  }
}
