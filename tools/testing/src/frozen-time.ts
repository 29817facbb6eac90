import { vi } from 'vitest'

interface Timer {
  readonly due: number
  readonly act: () => void
}

/**
 * Both clocks and the timers of a process that can be frozen: time then goes on, and no timer fires before the thaw, when
 * all that are due fire once. Vitest's clocks cannot do this.
 */
export class FreezableTime {
  #now = 0
  #asleep = 0
  readonly #start = Date.UTC(2026, 10, 21)
  readonly #timers = new Map<object, Timer>()

  constructor() {
    vi.spyOn(performance, 'now').mockImplementation(() => this.#now)
    vi.spyOn(Date, 'now').mockImplementation(() => this.#start + this.#now + this.#asleep)
    vi.stubGlobal('setTimeout', (act: () => void, ms = 1) => {
      const timer = { unref: () => timer, ref: () => timer }
      this.#timers.set(timer, { due: this.#now + Math.max(1, Math.trunc(ms)), act })
      return timer
    })
    vi.stubGlobal('clearTimeout', (timer: object) => this.#timers.delete(timer))
  }

  get now(): number {
    return this.#now
  }

  /** Lets time pass for a process that runs. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const [next] = this.#due(end)
      if (next === undefined) break
      this.#now = Math.max(this.#now, next[1].due)
      await this.#fire(next)
    }
    this.#now = end
    await settle()
  }

  /** Lets time pass for a process that is frozen, and thaws it: `arrived` is there by then, but read after the timers. */
  async freeze(ms: number, arrived: () => void = () => {}): Promise<void> {
    this.#now += ms
    for (const timer of this.#due(this.#now)) await this.#fire(timer)
    arrived()
    await settle()
  }

  /** Lets time pass for a machine that sleeps: the wall clock alone goes on. A time server may also set it back. */
  suspend(ms: number): void {
    this.#asleep += ms
  }

  #due(until: number): [object, Timer][] {
    return [...this.#timers].filter(([, { due }]) => due <= until).toSorted(([, a], [, b]) => a.due - b.due)
  }

  async #fire([key, { act }]: [object, Timer]): Promise<void> {
    if (!this.#timers.delete(key)) return
    act()
    await settle()
  }
}

/** Lets all promises settle. */
const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
