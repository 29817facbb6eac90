/** A call that was sent. */
export interface SentCall {
  /** 1 for the first call to the API, 2 for the next. */
  readonly order: number
  /** On the monotonic clock. */
  readonly sentAt: number
}

/** How long other calls wait for the response to the trial call, in milliseconds. */
const longestTrial = 5_000

/** Sends one call on trial after a pause. The others follow when its response has arrived. */
export class TrialCall {
  #isDue = false
  #call: SentCall | undefined

  /** Makes the next call a trial. */
  begin(): void {
    this.#isDue = true
    this.#call = undefined
  }

  /** Returns for how many milliseconds no other call may be sent, 0 if one may. */
  wait(now: number): number {
    return this.#call === undefined ? 0 : Math.max(0, this.#call.sentAt + longestTrial - now)
  }

  sent(call: SentCall): void {
    this.#call = this.#isDue ? call : undefined
    this.#isDue = false
  }

  /** Lets the other calls follow. If the trial call was never sent, the next one is the trial. */
  ended(call: SentCall, wasSent = true): void {
    if (this.#call !== call) return
    this.#call = undefined
    this.#isDue = !wasSent
  }

  cancel(): void {
    this.#isDue = false
    this.#call = undefined
  }
}
