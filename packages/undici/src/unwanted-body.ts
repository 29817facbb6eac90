import type { Controller } from './handler.ts'

const mostRead = 65_536
/** In milliseconds: a body may stall without an end. */
const longestRead = 1_000

/**
 * The body of a response whose request is sent again. A short one is read, so that its connection can be reused. One of more
 * than 64 KiB, or that takes more than a second, is given up.
 */
export class UnwantedBody {
  readonly #giveUp: () => void
  readonly #timer: ReturnType<typeof setTimeout>
  #read = 0

  constructor(attempt: Controller) {
    const reason = new Error('The request is sent again, so its first response was discarded')
    this.#giveUp = () => attempt.abort(reason)
    this.#timer = setTimeout(this.#giveUp, longestRead)
  }

  count(chunk: Uint8Array): void {
    this.#read += chunk.length
    if (this.#read > mostRead) this.#giveUp()
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
