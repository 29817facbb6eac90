interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
  cleared: boolean
  /** As Node's timers have it; nothing keeps this process alive but the simulation. */
  ref(): Timer
  unref(): Timer
}

const start = Date.UTC(2026, 10, 21)
// the real one: everything that promises can do is done when it comes
const nextTurn = setImmediate
const {
  setTimeout: realSetTimeout,
  clearTimeout: realClearTimeout,
  performance: realPerformance,
} = globalThis
const realDateNow = Date.now

/**
 * The time of a simulated process: both clocks and all timers, in the place of the global ones. Passes years in
 * seconds, since it jumps from one timer to the next.
 */
export class VirtualClock {
  /** Timers by time, as a heap; cleared ones stay until they are due. */
  readonly #heap: Timer[] = []
  #monotonic = 0
  #wallAhead = 0
  #order = 0
  #live = 0

  install(): void {
    // the rest stays as it is: a `fetch` that is used for the first time now keeps a function of it for good
    const clock = Object.create(realPerformance, {
      now: { value: () => this.#monotonic },
      timeOrigin: { value: start },
    }) as typeof realPerformance
    Object.assign(globalThis, {
      setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
        this.#add(() => run(...given), ms),
      clearTimeout: (timer: Timer | undefined) => this.#clear(timer),
    })
    Object.defineProperty(globalThis, 'performance', { value: clock, configurable: true, writable: true })
    Date.now = () => this.wall
  }

  uninstall(): void {
    Object.assign(globalThis, { setTimeout: realSetTimeout, clearTimeout: realClearTimeout })
    Object.defineProperty(globalThis, 'performance', {
      value: realPerformance,
      configurable: true,
      writable: true,
    })
    Date.now = realDateNow
  }

  get now(): number {
    return this.#monotonic
  }

  get wall(): number {
    return start + Math.floor(this.#monotonic + this.#wallAhead)
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#live
  }

  /** Sets the wall clock, as the user of a machine does. */
  setWall(by: number): void {
    this.#wallAhead += by
  }

  /** The process stands still: what is due meanwhile happens after it. */
  stall(ms: number): void {
    this.#monotonic += ms
  }

  /** Lets time pass; whatever is due happens in its order. */
  async pass(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    for (;;) {
      const next = this.#heap[0]
      if (next === undefined || next.at > end) break
      this.#pop()
      if (next.cleared) continue
      this.#live -= 1
      next.cleared = true
      this.#monotonic = Math.max(this.#monotonic, next.at)
      next.run()
      await this.settle()
    }
    this.#monotonic = end
  }

  /** Lets everything happen that waits for nothing but its turn. */
  settle(): Promise<void> {
    return new Promise((resolve) => nextTurn(resolve))
  }

  #add(run: () => void, ms: number): Timer {
    const timer: Timer = {
      at: this.#monotonic + Math.max(1, Math.floor(ms)),
      order: (this.#order += 1),
      run,
      cleared: false,
      ref: () => timer,
      unref: () => timer,
    }
    this.#live += 1
    this.#heap.push(timer)
    this.#up(this.#heap.length - 1)
    return timer
  }

  #clear(timer: Timer | undefined): void {
    if (timer === undefined || timer.cleared) return
    timer.cleared = true
    this.#live -= 1
  }

  #pop(): void {
    const last = this.#heap.pop() as Timer
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      let least = index
      for (const child of [left, left + 1])
        if (child < this.#heap.length && this.#isBefore(child, least)) least = child
      if (least === index) return
      this.#swap(index, least)
      index = least
    }
  }

  #up(from: number): void {
    for (let index = from; index > 0;) {
      const parent = (index - 1) >> 1
      if (!this.#isBefore(index, parent)) return
      this.#swap(index, parent)
      index = parent
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [first, second] = [this.#heap[one] as Timer, this.#heap[other] as Timer]
    return first.at < second.at || (first.at === second.at && first.order < second.order)
  }

  #swap(one: number, other: number): void {
    const first = this.#heap[one] as Timer
    this.#heap[one] = this.#heap[other] as Timer
    this.#heap[other] = first
  }
}
