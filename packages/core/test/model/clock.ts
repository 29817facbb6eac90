import { vi } from 'vitest'

const start = Date.UTC(2026, 10, 21)
/** Readings of the clock in one turn; more is a loop that never lets go. */
const mostReadings = 100_000
// the real one: everything that promises can do is done when it comes
const nextTurn = setImmediate

/**
 * Both clocks of a machine, and the time outside of it: they pass together, and part when somebody sets the
 * wall clock or the machine sleeps.
 */
export class Clock {
  #slept = 0
  #thawed = 0
  #readings = 0
  #halted = false
  #frozen = false
  /** Timers that came due while the process stood still. */
  readonly #late = new Map<ReturnType<typeof setTimeout>, () => void>()
  readonly #setBack: { readonly at: number; readonly by: number }[] = []

  /** @param stuck what to do about a loop that never lets go, before it is broken. */
  constructor(stuck: () => void) {
    vi.useFakeTimers({ now: start, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    this.#holdTimersWhileFrozen()
    const now = performance.now.bind(performance)
    performance.now = () => {
      if ((this.#readings += 1) <= mostReadings) return now()
      this.#readings = 0
      stuck()
      throw new Error('a loop that never lets go')
    }
  }

  get wall(): number {
    return Date.now()
  }

  get monotonic(): number {
    return performance.now()
  }

  /** The time outside, which the servers live in. */
  get real(): number {
    return performance.now() + this.#slept
  }

  /** Monotonic time without what was jumped over: what timers had a chance in. */
  get awake(): number {
    return performance.now() - this.#thawed
  }

  /** For how long the process stood still in all, in milliseconds. */
  get frozenFor(): number {
    return this.#thawed
  }

  /** Whether both clocks may show less than the time outside: then no client can know that a token is over. */
  get blind(): boolean {
    return this.#slept > 0 && this.#setBack.length > 0
  }

  /** By how much the wall clock was set back since then. */
  setBackSince(monotonic: number): number {
    return this.#setBack.reduce((sum, { at, by }) => (at >= monotonic ? sum + by : sum), 0)
  }

  /** Time passes, and whatever is due happens one after the other. */
  async pass(ms: number): Promise<void> {
    const span = { over: false }
    setTimeout(() => {
      span.over = true
    }, ms)
    while (!span.over && !this.#halted) {
      vi.advanceTimersToNextTimer()
      await this.settle()
    }
  }

  /** Everything that waits for nothing but its turn happens. */
  async settle(): Promise<void> {
    this.#readings = 0
    await new Promise((resolve) => nextTurn(resolve))
  }

  /** Somebody sets the wall clock. */
  setWall(by: number): void {
    if (by < 0) this.#setBack.push({ at: performance.now(), by: -by })
    vi.setSystemTime(Date.now() + by)
  }

  /** The machine sleeps, and its monotonic clock with it. */
  sleep(ms: number): void {
    this.#slept += ms
    vi.setSystemTime(Date.now() + ms)
  }

  /** The process stands still while both clocks go on; what came due meanwhile happens after it, in its turn. */
  async freeze(ms: number): Promise<void> {
    this.#thawed += ms
    this.#frozen = true
    vi.advanceTimersByTime(ms)
    this.#frozen = false
    for (const [timer, callback] of this.#late) {
      this.#late.delete(timer)
      callback()
      await this.settle()
    }
    await this.settle()
  }

  /** Time passes no more: something is wrong, and might go on forever. */
  halt(): void {
    this.#halted = true
  }

  get timers(): number {
    return vi.getTimerCount()
  }

  stop(): void {
    vi.useRealTimers()
  }

  /** Until the real timers are back. */
  #holdTimersWhileFrozen(): void {
    const { setTimeout: set, clearTimeout: clear } = globalThis
    const held = (callback: () => void, ms?: number): ReturnType<typeof setTimeout> => {
      const timer = set(() => {
        if (this.#frozen) this.#late.set(timer, callback)
        else callback()
      }, ms)
      return timer
    }
    globalThis.setTimeout = held as typeof setTimeout
    globalThis.clearTimeout = ((timer: ReturnType<typeof setTimeout>) => {
      this.#late.delete(timer)
      clear(timer)
    }) as typeof clearTimeout
  }
}
