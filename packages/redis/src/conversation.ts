import type { Runtime, Timer } from './runtime.ts'

/** Until when a message without an answer is given up, in milliseconds: the connection may be half open. */
const hopeless = 4_000
/** How often Redis is asked again while it refuses, in milliseconds. */
const retryAfter = 250

/** What comes of the messages of a process. */
export interface Listener<Answer> {
  /** An answer, late or not, to the message that left at `sentAt`. */
  heard(answer: Answer, sentAt: number): void
  /** Redis has been silent, or has refused, for as long as it may; said once until it answers. */
  silent(reason: unknown): void
  /** Another message may go. */
  free(): void
}

/**
 * One message at a time, and its answer however late.
 *
 * States: `free` (a message may go), `asking` (one is under way), `resting` (Redis refused, and is asked again soon).
 * In each of them Redis may count as silent: no answer since `timeout` after the first message that got none.
 */
export class Conversation<Message, Answer> {
  readonly #exchange: (message: Message) => Promise<Answer>
  readonly #runtime: Runtime
  readonly #timeout: number
  readonly #listener: Listener<Answer>
  #state: 'free' | 'asking' | 'resting' = 'free'
  #round = 0
  #silentSince = Infinity
  #isSilent = false
  #meanRoundTrip = 0
  #lastRoundTrips: number[] = []
  #timers: Timer[] = []

  constructor(
    exchange: (message: Message) => Promise<Answer>,
    runtime: Runtime,
    timeout: number,
    listener: Listener<Answer>,
  ) {
    this.#exchange = exchange
    this.#runtime = runtime
    this.#timeout = timeout
    this.#listener = listener
  }

  get isFree(): boolean {
    return this.#state === 'free'
  }

  /** When the first message left that got no answer; `Infinity` while Redis answers. */
  get silentSince(): number {
    return this.#silentSince
  }

  /**
   * How long a message and its answer travel, in milliseconds: the median of the last five, since a process or
   * Redis may be busy for a moment; 0 before the first answer.
   */
  get roundTrip(): number {
    return this.#lastRoundTrips.length === 0 ? 0 : medianOf(this.#lastRoundTrips)
  }

  /** How long an answer may take: a Redis that is known to be far away may take longer. */
  get answerTimeout(): number {
    return Math.max(this.#timeout, Math.min(2.5 * this.#meanRoundTrip, 0.9 * hopeless))
  }

  say(message: Message): void {
    const round = (this.#round += 1)
    const sentAt = this.#runtime.now()
    this.#state = 'asking'
    this.#silentSince = Math.min(this.#silentSince, sentAt)
    this.#watch(round)
    this.#exchange(message).then(
      (answer) => this.#hear(round, answer, sentAt),
      (error: unknown) => this.#refused(round, error),
    )
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel()
  }

  #hear(round: number, answer: Answer, sentAt: number): void {
    if (round !== this.#round) return
    const took = this.#runtime.now() - sentAt
    this.#meanRoundTrip = this.#meanRoundTrip === 0 ? took : this.#meanRoundTrip * 0.8 + took * 0.2
    this.#lastRoundTrips = [...this.#lastRoundTrips.slice(-4), took]
    this.#silentSince = Infinity
    this.#isSilent = false
    this.#become('free')
    this.#listener.heard(answer, sentAt)
    this.#listener.free()
  }

  #refused(round: number, error: unknown): void {
    if (round !== this.#round) return
    this.#become('resting')
    const left = this.#silentSince + this.answerTimeout - this.#runtime.now()
    if (left <= 0) this.#fallSilent(error)
    const pause = retryAfter * (0.5 + this.#runtime.random() / 2)
    this.#later(this.#isSilent ? pause : Math.min(pause / 2, Math.max(1, left)), () => {
      this.#become('free')
      this.#listener.free()
    })
  }

  #watch(round: number): void {
    const left = this.#silentSince + this.answerTimeout - this.#runtime.now()
    const late = (): void => {
      if (round === this.#round)
        this.#fallSilent(new Error(`no answer in ${Math.round(this.answerTimeout)} ms`))
    }
    // a process that stood still finds its timer over before it reads the answer that lies there
    if (!this.#isSilent) this.#later(left, () => this.#later(1, () => this.#later(1, late)))
    this.#later(hopeless, () => this.#giveUp(round))
  }

  #fallSilent(reason: unknown): void {
    if (this.#isSilent) return
    this.#isSilent = true
    this.#listener.silent(reason)
  }

  /** What comes later is not heard: the next message replaces what this one stated. */
  #giveUp(round: number): void {
    if (round !== this.#round || this.#state !== 'asking') return
    this.#round += 1
    this.#become('free')
    this.#listener.free()
  }

  #become(state: 'free' | 'resting'): void {
    this.#state = state
    for (const timer of this.#timers.splice(0)) timer.cancel()
  }

  #later(ms: number, run: () => void): void {
    this.#timers.push(this.#runtime.after(ms, run, this.#isSilent))
  }
}

/** Of an even number of values the lower one in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)] as number
}
