import { discardBody } from '@tokenlane/core/adapter'

import type { CallController } from './call-controller.ts'
import type { Controller, Handler } from './handler.ts'

const { PassThrough } = process.getBuiltinModule('node:stream')

/** A response whose request is sent again. Its body is discarded as any other, and kept as far as it was read. */
export class UnwantedResponse {
  readonly #show: () => void
  readonly #body = new PassThrough()
  readonly #chunks: Buffer[] = []
  readonly #giveUp: () => void

  /** @param show gives the caller its status and headers. */
  constructor(attempt: Controller, show: () => void) {
    const reason = 'The request is sent again, so its first response was discarded'
    this.#giveUp = () => attempt.abort(new Error(reason))
    this.#show = show
    this.#body.on('close', this.#giveUp)
    void discardBody(this.#body)
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#body.write(chunk)
  }

  end(): void {
    this.#body.off('close', this.#giveUp).destroy()
  }

  /** Gives the caller the response after all, which `end` ends as undici would have ended it. */
  giveTo(handler: Handler, controller: CallController, end: () => void): void {
    try {
      this.#show()
      for (const chunk of this.#chunks) if (!controller.aborted) handler.onResponseData?.(controller, chunk)
      if (controller.aborted) throw controller.reason as Error
      end()
    } catch (error) {
      handler.onResponseError?.(controller, error)
    }
  }
}
