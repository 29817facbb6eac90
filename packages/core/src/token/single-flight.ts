import { abortable } from '../time/abortable.ts'
import type { AccessToken } from './access-token.ts'
import { Pause } from './pause.ts'

/** One renewal under way, which every call that needs it shares. */
export class Flight {
  readonly #landing: Promise<AccessToken>
  readonly #maxWait: number
  #waiting = 0
  #joiners = 0
  #deadline = Number.POSITIVE_INFINITY
  #pause: Pause | undefined

  /** @param maxWait how long a call waits at most, in milliseconds. */
  constructor(fly: (flight: Flight) => Promise<AccessToken>, maxWait: number) {
    // a turn later, so that the flight is known when it begins
    this.#landing = Promise.resolve().then(() => fly(this))
    // a renewal that nobody waits for may fail without anybody to tell but the observers
    this.#landing.catch(() => {})
    this.#maxWait = maxWait
  }

  /** Whether calls wait now. */
  get awaited(): boolean {
    return this.#waiting > 0
  }

  /** Calls that ever waited. */
  get joiners(): number {
    return this.#joiners
  }

  /** Milliseconds until the first of those that wait gives up. */
  get timeLeft(): number {
    return this.#deadline - performance.now()
  }

  /** Waits for the token. Aborting `signal` ends this wait only. */
  async join(signal: AbortSignal | undefined): Promise<AccessToken> {
    if (this.#waiting === 0) {
      this.#deadline = performance.now() + this.#maxWait
      this.#pause?.hold()
    }
    this.#waiting += 1
    this.#joiners += 1
    try {
      return await abortable(this.#landing, signal)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#pause?.letGo()
    }
  }

  /** Lets time pass before the next try; keeps the process alive only while calls wait. */
  async rest(ms: number): Promise<void> {
    this.#pause = new Pause(ms)
    if (this.#waiting === 0) this.#pause.letGo()
    await this.#pause.over
  }

  /** No more rest; ends when the flight has landed, one way or the other. */
  async cutShort(): Promise<void> {
    this.#pause?.end()
    await this.#landing.catch(() => {})
  }
}
