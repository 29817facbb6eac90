import type { Runtime } from './runtime.ts'

/** After how long a request without a response is given up, in milliseconds. The connection may be half open. */
const longestWait = 4_000
/** How often a request is sent again while Redis refuses it, in milliseconds. */
const retryAfter = 250

/** Receives the results of the requests of a process. */
export interface Listener {
  /** Takes the error of a request. */
  failed(error: unknown): void
  /** Notes that Redis is unreachable, and a request is given up to which there was no response and no error. */
  silent(): void
  /** Notes that Redis has not responded, or has refused, for as long as it may; once until it responds. */
  unreachable(reason: unknown): void
  /** Notes that the request is over without a response, and another one may leave. */
  unanswered(): void
}

/**
 * Sends one request to Redis at a time, and takes its response however late it comes.
 *
 * States: `free` (a request may leave), `asking` (one is under way), `resting` (Redis refused one, and the next one leaves
 * soon). In each of them Redis may count as unreachable: `timeout` after the first request without a response.
 */
export class RedisRequests<Request, Reply> {
  readonly #exchange: (request: Request) => Promise<Reply>
  readonly #runtime: Runtime
  readonly #timeout: number
  readonly #listener: Listener
  #state: 'free' | 'asking' | 'resting' = 'free'
  #round = 0
  /** When the first request left that has no response; `Infinity` while Redis responds. */
  unansweredSince: number = Infinity
  /** The time that Redis has to respond from then on. */
  #countdown: ReturnType<Runtime['countdown']> | undefined
  #isUnreachable = false
  /** Why Redis refused the last request; `undefined` since it responded. */
  #refusal: unknown
  #lastRoundTrips: number[] = []
  #timers: (() => void)[] = []

  constructor(
    exchange: (request: Request) => Promise<Reply>,
    runtime: Runtime,
    timeout: number,
    listener: Listener,
  ) {
    this.#exchange = exchange
    this.#runtime = runtime
    this.#timeout = timeout
    this.#listener = listener
  }

  get isFree(): boolean {
    return this.#state === 'free'
  }

  /**
   * How long a request and its response travel, in milliseconds: the median of the last five (of an even number the lower
   * one in the middle), since a process or Redis may be busy for a moment; 0 before the first response.
   */
  get roundTrip(): number {
    const sorted = this.#lastRoundTrips.toSorted((one, other) => one - other)
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  }

  /** How long a response may take: longer from a Redis that is known to be far away. */
  get responseTimeout(): number {
    return Math.max(this.#timeout, Math.min(2.5 * this.roundTrip, 0.9 * longestWait))
  }

  /** @param responded takes the response, late or not. */
  send(request: Request, responded: (response: Reply) => void): void {
    const round = (this.#round += 1)
    const sentAt = this.#runtime.now()
    this.#state = 'asking'
    this.unansweredSince = Math.min(this.unansweredSince, sentAt)
    this.#countdown ??= this.#runtime.countdown(this.responseTimeout, () => this.#late())
    // by the clock: Redis keeps what it grants for no longer
    this.#later(longestWait, () => this.#giveUp(round))
    this.#exchange(request).then(
      (response) => this.#responded(round, sentAt, () => responded(response)),
      (error: unknown) => this.#refused(round, error),
    )
  }

  close(): void {
    this.#endCountdown()
    for (const cancel of this.#timers) cancel()
  }

  #responded(round: number, sentAt: number, responded: () => void): void {
    if (round !== this.#round) return
    const took = this.#runtime.now() - sentAt
    this.#lastRoundTrips = [...this.#lastRoundTrips.slice(-4), took]
    this.unansweredSince = Infinity
    this.#endCountdown()
    this.#isUnreachable = false
    this.#refusal = undefined
    this.#become('free')
    responded()
  }

  #refused(round: number, error: unknown): void {
    this.#listener.failed(error)
    if (round !== this.#round) return
    this.#refusal = error
    this.#become('resting')
    const left = Math.max(1, this.#countdown?.left ?? 0)
    const pause = retryAfter * (0.5 + this.#runtime.random() / 2)
    this.#later(this.#isUnreachable ? pause : Math.min(pause / 2, left), () => {
      this.#become('free')
      this.#listener.unanswered()
    })
  }

  /** After a process stood still, its timers fire before it reads a response that has already arrived. */
  #late(): void {
    const countdown = this.#countdown
    const late = (): void => {
      if (countdown === this.#countdown)
        this.#becomeUnreachable(
          this.#refusal ?? new Error(`no response in ${Math.round(this.responseTimeout)} ms`),
        )
    }
    this.#runtime.after(1, () => this.#runtime.after(1, late))
  }

  #endCountdown(): void {
    this.#countdown?.stop()
    this.#countdown = undefined
  }

  #becomeUnreachable(reason: unknown): void {
    if (this.#isUnreachable) return
    this.#isUnreachable = true
    this.#listener.unreachable(reason)
  }

  /** Ignores a response that comes later: the next request replaces what this one stated. */
  #giveUp(round: number): void {
    if (round !== this.#round || this.#state !== 'asking') return
    this.#round += 1
    this.#become('free')
    if (this.#isUnreachable) this.#listener.silent()
    this.#listener.unanswered()
  }

  #become(state: 'free' | 'resting'): void {
    this.#state = state
    for (const cancel of this.#timers.splice(0)) cancel()
  }

  #later(ms: number, run: () => void): void {
    this.#timers.push(this.#runtime.after(ms, run, this.#isUnreachable))
  }
}
