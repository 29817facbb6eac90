import type { CallController } from './call-controller.ts'
import type { Controller, Handler, ResponseHeaders } from './handler.ts'

const mostRead = 65_536
/** In milliseconds: a body may stall without an end. */
const longestRead = 1_000

interface Head {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly message: string | undefined
}

/**
 * A response whose request is sent again. A short body is read, so that its connection can be reused. One of more than
 * 64 KiB, or that takes more than a second, is given up.
 */
export class UnwantedResponse {
  readonly #attempt: Controller
  readonly #head: Head
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #chunks: Uint8Array[] = []
  #read = 0

  constructor(attempt: Controller, head: Head) {
    this.#attempt = attempt
    this.#head = head
    this.#timer = setTimeout(() => this.#giveUp(), longestRead)
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#read += chunk.length
    if (this.#read > mostRead) this.#giveUp()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  /** Gives the caller the response after all, which `end` ends as undici would have ended it. */
  giveTo(handler: Handler, controller: CallController, end: () => void): void {
    const { status, headers, message } = this.#head
    controller.rawHeaders = this.#attempt.rawHeaders
    try {
      handler.onResponseStart?.(controller, status, headers, message)
      for (const chunk of this.#chunks) if (!controller.aborted) handler.onResponseData?.(controller, chunk)
      if (controller.aborted) throw controller.reason
      end()
    } catch (error) {
      handler.onResponseError?.(controller, error)
    }
  }

  #giveUp(): void {
    this.#attempt.abort(new Error('The request is sent again, so its first response was discarded'))
  }
}
