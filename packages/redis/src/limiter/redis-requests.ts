import type { Moment } from '@tokenlane/core/fleet'
import { longestSince, type Runtime } from './runtime.ts'

/** After how long a request without a response is given up at the latest, in milliseconds. The connection may be half open. */
const longestWait = 4_000
/** How often a request is sent again while Redis refuses it, in milliseconds. */
const retryAfter = 250
/** How many round trips tell how long one takes now. */
const mostRemembered = 5

/** How requests are sent, and who hears what became of them. */
export interface RequestsOptions<Request, Reply> {
  readonly exchange: (request: Request) => Promise<Reply>
  readonly runtime: Runtime
  readonly timeout: number
  failed(error: unknown): void
  /** A request is given up that got neither a response nor an error. */
  silent(): void
  /** Redis has not responded, or has refused, for as long as it may; called once until it responds. */
  unreachable(reason: unknown): void
  /** The request ended without a response, and another one may leave. */
  unanswered(): void
}

/**
 * Sends one request to Redis at a time, and takes its response however late it comes. Redis counts as unreachable
 * `timeout` after the first request without a response.
 */
export class RedisRequests<Request, Reply> {
  readonly #options: RequestsOptions<Request, Reply>
  readonly #runtime: Runtime
  /** Whether a request may leave: none is under way, and none was refused just now. */
  isFree = true
  #round = 0
  /** When the first request left that has no response; `Infinity` while Redis responds. */
  unansweredSince: number = Infinity
  /** The time that Redis has to respond from then on. */
  #countdown: ReturnType<Runtime['countdown']> | undefined
  #isUnreachable = false
  /** Why Redis refused the last request; `undefined` since it responded. */
  #refusal: unknown
  #lastRoundTrips: number[] = []
  #shortestRoundTrip = Infinity
  /** Cancels the next timer: a request is given up, or another one may leave. */
  #cancel: () => void = () => {}

  constructor(options: RequestsOptions<Request, Reply>) {
    this.#options = options
    this.#runtime = options.runtime
  }

  /**
   * How long a request and its response travel, in milliseconds: the median of the last five (of an even number the lower
   * one in the middle), since a process or Redis may be busy for a moment; 0 before the first response.
   */
  get roundTrip(): number {
    const sorted = this.#lastRoundTrips.toSorted((one, other) => one - other)
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  }

  /**
   * How long a response travels at least, in milliseconds. Assumed: no way back takes less than a quarter of the shortest
   * round trip, which the first ones may not show, since a process or Redis may be busy. A millisecond less, so that a
   * Redis nearby is trusted with nothing. Nothing is assumed of the way there: a process that is always busy reads each
   * response late and sends each request at once.
   */
  get shortestWayBack(): number {
    return this.#lastRoundTrips.length < mostRemembered ? 0 : Math.max(0, this.#shortestRoundTrip / 4 - 1)
  }

  /** How long a response may take: longer from a Redis that is known to be far away. */
  get #responseTimeout(): number {
    return Math.max(this.#options.timeout, Math.min(2.5 * this.roundTrip, 0.9 * longestWait))
  }

  /** @param responded takes the response, late or not. */
  send(request: Request, responded: (response: Reply) => void): void {
    const round = (this.#round += 1)
    const sentAt = this.#runtime.moment()
    this.isFree = false
    this.unansweredSince = Math.min(this.unansweredSince, sentAt.monotonic)
    this.#countdown ??= this.#runtime.countdown(this.#responseTimeout, () => this.#late())
    this.#giveUpIn(longestWait)
    this.#options.exchange(request).then(
      // what was given up is replaced by what the next request states
      (response) => round === this.#round && this.#end(sentAt, () => responded(response)),
      (error: unknown) => {
        this.#refusal = error
        this.#options.failed(error)
        if (round === this.#round) this.#rest()
      },
    )
  }

  close(): void {
    this.#cancel()
    this.#countdown?.stop()
    this.#countdown = undefined
  }

  #end(sentAt: Moment, responded: () => void): void {
    if (longestSince(sentAt, this.#runtime.moment()) >= longestWait) return this.#giveUpIn(0)
    this.close()
    const roundTrip = this.#runtime.now() - sentAt.monotonic
    this.#lastRoundTrips = [...this.#lastRoundTrips.slice(1 - mostRemembered), roundTrip]
    this.#shortestRoundTrip = Math.min(this.#shortestRoundTrip, roundTrip)
    this.unansweredSince = Infinity
    this.#isUnreachable = false
    this.#refusal = undefined
    this.isFree = true
    responded()
  }

  /** Lets the next request leave a little after a refusal. */
  #rest(): void {
    const pause = retryAfter * (0.5 + this.#runtime.random() / 2)
    const left = Math.max(1, this.#countdown?.left ?? 0)
    this.#next(this.#isUnreachable ? pause : Math.min(pause / 2, left))
  }

  /** After a process stood still, its timers fire before it reads a response that has already arrived. */
  #late(): void {
    const countdown = this.#countdown
    const late = (): void => {
      if (countdown !== this.#countdown || this.#isUnreachable) return
      this.#isUnreachable = true
      // a client may never send again what its old connection left open; before the first response Redis may be far away
      if (!this.isFree && this.#lastRoundTrips.length > 0) this.#giveUpIn(this.#responseTimeout)
      const silence = `no response in ${Math.round(this.#responseTimeout)} ms`
      this.#options.unreachable(this.#refusal ?? new Error(silence))
    }
    this.#runtime.after(1, () => this.#runtime.after(1, late))
  }

  /** Lets another request leave although this one has no response; by the clock, since Redis keeps what it grants for no longer. */
  #giveUpIn(ms: number): void {
    const untilSilent = (): number => this.unansweredSince + longestWait - this.#runtime.now()
    const most = untilSilent() > 0 ? untilSilent() : longestWait
    this.#next(Math.min(ms, most), () => {
      this.#round += 1
      if (this.#isUnreachable && untilSilent() <= 0) this.#options.silent()
    })
  }

  #next(ms: number, first: () => void = () => {}): void {
    this.#cancel()
    const go = (): void => {
      first()
      this.isFree = true
      this.#options.unanswered()
    }
    this.#cancel = this.#runtime.after(ms, go, this.#isUnreachable)
  }
}
