import { PriorityQueue } from 'p-queue'

/** Calls that wait, in order: the highest priority first, and among equal ones the call that came first. */
export class WaitingCalls<T extends { readonly priority: number }> {
  /** The queue of p-queue. It calls nothing that it holds here, though its types say that it could. */
  readonly #queue = new PriorityQueue()
  readonly #countByPriority = new Map<number, number>()

  get size(): number {
    return this.#queue.size
  }

  /** Returns how many calls go before one of this priority that is added now. */
  ahead(priority: number): number {
    let ahead = 0
    for (const [other, count] of this.#countByPriority) if (other >= priority) ahead += count
    return ahead
  }

  add(call: T): void {
    this.#queue.enqueue(call as never, { priority: call.priority })
    this.#count(call, 1)
  }

  /** Takes out the call that goes next. */
  next(): T | undefined {
    const call = this.#queue.dequeue() as T | undefined
    if (call !== undefined) this.#count(call, -1)
    return call
  }

  /** Takes out a call, and returns whether it was there. */
  remove(call: T): boolean {
    const { size } = this.#queue
    this.#queue.remove(call as never)
    if (this.#queue.size === size) return false
    this.#count(call, -1)
    return true
  }

  /** Takes out all calls, in order. */
  removeAll(): T[] {
    const all: T[] = []
    for (let call = this.next(); call !== undefined; call = this.next()) all.push(call)
    return all
  }

  #count({ priority }: T, change: 1 | -1): void {
    const count = (this.#countByPriority.get(priority) ?? 0) + change
    if (count > 0) this.#countByPriority.set(priority, count)
    else this.#countByPriority.delete(priority)
  }
}
