import { discardBody, type Exchange } from '@tokenlane/core'

/** One answer, as core judges it. */
export async function exchange(answer: Promise<Response>): Promise<Exchange<Response>> {
  return new KyExchange(await answer)
}

/** Reads only what is asked for, which for nearly every answer is its status. */
class KyExchange implements Exchange<Response> {
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
