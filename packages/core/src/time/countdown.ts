import { longestTimer } from './duration.ts'

/** How late a timer may be before the process counts as having stood still meanwhile, in milliseconds. */
const usualLateness = 500
/** A countdown looks at the clock this often, so that little of a standstill counts. */
const looks = 20
const shortestLook = 100

/**
 * Counts down time that the process had. While it is frozen or suspended, or its event loop is blocked, what it waits
 * for cannot arrive: a timeout that ran on would end the wait before what has come meanwhile is read.
 */
export class Countdown {
  readonly #act: (() => void) | undefined
  readonly #look: number
  readonly #whole: number
  #left: number
  #lookedAt = 0
  #isReferenced: boolean
  #timer: ReturnType<typeof setTimeout> | undefined

  /**
   * @param act - is called once when no time is left; without it, the process may end before.
   * @param spent - how much of it was used before.
   */
  constructor(ms: number, act?: () => void, spent = 0) {
    this.#whole = ms
    this.#left = ms - spent
    this.#act = act
    this.#isReferenced = act !== undefined
    this.#look = Math.min(Math.max(shortestLook, Math.round(ms / looks)), longestTimer)
    this.#wait()
  }

  /** How much time is left, in milliseconds; 0 or less once it is over. */
  get left(): number {
    return this.#left - Math.min(performance.now() - this.#lookedAt, this.#look)
  }

  /** How much of it is used, in milliseconds. */
  get spent(): number {
    return this.#whole - this.left
  }

  /** Lets the process end meanwhile. */
  unref(): this {
    this.#isReferenced = false
    this.#timer?.unref?.()
    return this
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #wait(): void {
    const ms = Math.max(1, Math.min(this.#look, Math.round(this.#left)))
    this.#lookedAt = performance.now()
    this.#timer = setTimeout(() => {
      const late = performance.now() - this.#lookedAt - ms
      // not by the clock, which tests may leave as it is while they advance timers
      if (late <= usualLateness) this.#left -= ms + Math.max(0, late)
      if (this.#left < 1) this.#act?.()
      else this.#wait()
    }, ms)
    if (!this.#isReferenced) this.#timer.unref?.()
  }
}

/** Returns how long one step may take, in milliseconds: `most`, or until the first waiting call gives up. */
export function stepTime({ timeLeft }: { readonly timeLeft: number }, most: number): number {
  return Math.min(most, Math.max(1, timeLeft))
}

/**
 * Does one step of a request with a signal that aborts once the process had `ms` milliseconds for it; its reason's message
 * says how many.
 */
export async function withTimeLimit<T>(ms: number, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const countdown = new Countdown(ms, () =>
    controller.abort(new DOMException(`${Math.round(ms)} ms`, 'TimeoutError')),
  )
  try {
    return await step(controller.signal)
  } finally {
    countdown.stop()
  }
}
