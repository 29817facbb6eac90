import { abortable } from '../time/abortable.ts'
import { Delay } from '../time/delay.ts'
import type { AccessToken } from './access-token.ts'

/** How renewals run, which depends on the runtime. */
export interface Flights {
  /** Whether a renewal that no call waits for would come to its end. */
  mayRunUnawaited(): boolean
  /** Lets calls share the result of a renewal. */
  share(result: Promise<AccessToken>): SharedResult
}

interface SharedResult {
  /** Waits for the token. */
  join(): Promise<AccessToken>
  /** Whether the renewal will never end. */
  isLost(): boolean
}

/** In a process, whose calls can wait for one promise. */
export const flightsOfProcess: Flights = {
  mayRunUnawaited: () => true,
  share: (result) => ({ join: () => result, isLost: () => false }),
}

/** One renewal under way, which every call that needs it shares. */
export class SingleFlight {
  /** How many calls have waited so far. */
  joiners = 0
  /** Whether there must be no further try. */
  isStopped = false
  readonly #result: Promise<AccessToken>
  readonly #shared: SharedResult
  readonly #maxWait: number
  #waiting = 0
  #deadline = Number.POSITIVE_INFINITY
  #delay: Delay | undefined

  /** @param maxWait how long a call waits at most, in milliseconds. */
  constructor(run: (flight: SingleFlight) => Promise<AccessToken>, maxWait: number, flights: Flights) {
    // in a microtask, so that the caller has stored the flight when it begins
    this.#result = Promise.resolve().then(() => run(this))
    // a background renewal may fail: that is reported to observers only
    this.#result.catch(() => {})
    this.#shared = flights.share(this.#result)
    this.#maxWait = maxWait
  }

  /** Whether calls wait now. */
  get awaited(): boolean {
    return this.#waiting > 0
  }

  /** Whether the renewal will never end. */
  isLost(): boolean {
    return this.#shared.isLost()
  }

  /** Milliseconds until the first waiting call gives up; `Infinity` if no call has waited. */
  get timeLeft(): number {
    return this.#deadline - performance.now()
  }

  /** Waits for the token. Aborting `signal` ends this wait only. */
  async join(signal: AbortSignal | undefined): Promise<AccessToken> {
    if (this.#waiting === 0) {
      this.#deadline = performance.now() + this.#maxWait
      this.#delay?.ref()
    }
    this.#waiting += 1
    this.joiners += 1
    try {
      return await abortable(this.#shared.join(), signal)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#delay?.unref()
    }
  }

  /** Lets time pass before the next try, until `early` settles. Keeps the process alive only while calls wait. */
  async delay(ms: number, early?: Promise<unknown>): Promise<void> {
    const delay = new Delay(ms)
    this.#delay = delay
    if (this.#waiting === 0) delay.unref()
    early?.catch(() => {}).finally(() => delay.stop())
    await delay.over
  }

  /** Ends the delay under way and lets no try follow; waits until the renewal has succeeded or failed. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.#delay?.stop()
    await this.#result.catch(() => {})
  }
}
