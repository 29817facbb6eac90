import { discardBody, type Exchange } from '@tokenlane/core'

/** One answer, as core judges it. */
export async function exchange(answer: Promise<Response>): Promise<Exchange<Response>> {
  const response = await answer
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    wwwAuthenticate: response.headers.get('www-authenticate'),
    result: response,
    discard: () => discardBody(response.body),
  }
}
