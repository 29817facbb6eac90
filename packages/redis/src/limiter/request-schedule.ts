import type { Runtime, Timer } from './runtime.ts'

/** The request that a schedule sends. */
export interface NextRequest {
  /** Returns whether a request may leave at all. */
  isFree(): boolean
  /** Returns when the next request must leave; `Infinity` for never. */
  sendAt(): number
  /** Returns whether the process may end before the request leaves. */
  isIdle(): boolean
  send(): void
}

/**
 * Sends the next request when it must leave.
 *
 * | state     | what it means                                        | what ends it                                          |
 * | --------- | ---------------------------------------------------- | ----------------------------------------------------- |
 * | `open`    | the next request leaves at its time, or at an event  | `close`: `last`, or `closed` with nothing to report   |
 * | `last`    | one more request must leave                          | it leaves: `closing`; Redis is unreachable: `closed`  |
 * | `closing` | the last request is under way                        | its response, or none in time: `closed`               |
 * | `closed`  | no request leaves                                    |                                                       |
 *
 * In the first three a request may be `gathering`: it leaves at the end of this turn of the event loop.
 */
export class RequestSchedule {
  readonly #runtime: Runtime
  readonly #next: NextRequest
  #state: 'open' | 'last' | 'closing' | 'closed' = 'open'
  #isGathering = false
  #timer: Timer | undefined
  readonly #closed = Promise.withResolvers<void>()

  constructor(runtime: Runtime, next: NextRequest) {
    this.#runtime = runtime
    this.#next = next
  }

  /** Finds out anew when the next request must leave. */
  plan(): void {
    this.#timer?.cancel()
    if (!this.#next.isFree() || this.#isGathering || this.#state === 'closed') return
    const at = this.#state === 'open' ? this.#next.sendAt() : Number.NEGATIVE_INFINITY
    if (at === Infinity) return
    const wait = at - this.#runtime.now()
    if (wait > 0) this.#timer = this.#runtime.after(wait, () => this.plan(), this.#next.isIdle())
    else void this.#send()
  }

  /** Ends, after one more request if there is something left to report. */
  close(hasReport: boolean): Promise<void> {
    this.#timer?.cancel()
    this.#state = 'last'
    if (hasReport) this.plan()
    else this.giveUp()
    return this.#closed.promise
  }

  /** Notes that Redis responded to the request. */
  responded(): void {
    if (this.#state === 'closing') this.#end()
  }

  /** Notes that Redis is unreachable: a last request would not arrive. */
  giveUp(): void {
    if (this.#state !== 'open') this.#end()
  }

  #end(): void {
    this.#state = 'closed'
    this.#closed.resolve()
  }

  async #send(): Promise<void> {
    this.#isGathering = true
    // so that the request reports everything that happens in this turn of the event loop
    await Promise.resolve()
    this.#isGathering = false
    if (!this.#next.isFree() || this.#state === 'closed') return
    if (this.#state === 'last') this.#state = 'closing'
    this.#next.send()
  }
}
