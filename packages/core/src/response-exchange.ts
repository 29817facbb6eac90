import type { Exchange } from './api.ts'
import { discardBody } from './discard-body.ts'

/**
 * An exchange that ended with a `Response` of the Fetch standard.
 *
 * Reads only what is asked for, which for nearly every answer is its status.
 */
export class ResponseExchange implements Exchange<Response> {
  readonly result: Response

  constructor(response: Response) {
    this.result = response
  }

  get status(): number {
    return this.result.status
  }

  get retryAfter(): string | null {
    return this.result.headers.get('retry-after')
  }

  get wwwAuthenticate(): string | null {
    return this.result.headers.get('www-authenticate')
  }

  discard(): Promise<void> {
    return discardBody(this.result.body)
  }
}
