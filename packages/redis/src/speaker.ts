import type { Runtime, Timer } from './runtime.ts'

/** What a speaker says, and when. */
export interface Speech {
  /** Returns whether a message may go at all. */
  isFree(): boolean
  /** Returns when the next message must go; `Infinity` for never. */
  speakAt(): number
  /** Returns whether the process may end before the message goes. */
  isIdle(): boolean
  say(): void
}

/**
 * Lets the next message go when it must.
 *
 * | state       | what it means                                       | what ends it                                      |
 * | ----------- | --------------------------------------------------- | ------------------------------------------------- |
 * | `waiting`   | the next message goes at its time, or at an event   | `close`: `last word`, or `closed` without news    |
 * | `last word` | one more message must go                            | it goes: `closing`; Redis is silent: `closed`     |
 * | `closing`   | the last message is under way                       | its answer, or silence: `closed`                  |
 * | `closed`    | no message goes                                     |                                                   |
 *
 * In the first three a message may be `gathering`: it goes at the end of this turn of the event loop.
 */
export class Speaker {
  readonly #runtime: Runtime
  readonly #speech: Speech
  #state: 'waiting' | 'last word' | 'closing' | 'closed' = 'waiting'
  #isGathering = false
  #timer: Timer | undefined
  readonly #closed = Promise.withResolvers<void>()

  constructor(runtime: Runtime, speech: Speech) {
    this.#runtime = runtime
    this.#speech = speech
  }

  /** Looks anew when the next message must go. */
  plan(): void {
    this.#timer?.cancel()
    if (!this.#speech.isFree() || this.#isGathering) return
    const at = this.#speakAt()
    if (at === Infinity) return
    const wait = at - this.#runtime.now()
    if (wait > 0) this.#timer = this.#runtime.after(wait, () => this.plan(), this.#speech.isIdle())
    else void this.#speak()
  }

  /** Ends, after one more message if there is something left to say. */
  close(hasLastWord: boolean): Promise<void> {
    this.#timer?.cancel()
    this.#state = 'last word'
    if (hasLastWord) this.plan()
    else this.giveUp()
    return this.#closed.promise
  }

  /** Redis answered the message. */
  answered(): void {
    if (this.#state === 'closing') this.#end()
  }

  /** Redis is silent: a last word would not be heard. */
  giveUp(): void {
    if (this.#state !== 'waiting') this.#end()
  }

  #end(): void {
    this.#state = 'closed'
    this.#closed.resolve()
  }

  #speakAt(): number {
    if (this.#state === 'closed') return Infinity
    return this.#state === 'waiting' ? this.#speech.speakAt() : Number.NEGATIVE_INFINITY
  }

  async #speak(): Promise<void> {
    this.#isGathering = true
    // so that the message has everything that happens in this turn of the event loop
    await Promise.resolve()
    this.#isGathering = false
    if (!this.#speech.isFree() || this.#state === 'closed') return
    if (this.#state === 'last word') this.#state = 'closing'
    this.#speech.say()
  }
}
