import type { Exchange } from '../send/api.ts'
import { discardBody } from './discard-body.ts'

/** Returns one exchange that ended with a `Response` of the Fetch standard. */
export function exchangeOf(response: Response, follow?: Exchange<Response>['follow']): Exchange<Response> {
  const header = (name: string): string | null => response.headers.get(name)
  return {
    status: response.status,
    get retryAfter() {
      return header('retry-after')
    },
    get wwwAuthenticate() {
      return header('www-authenticate')
    },
    header,
    result: response,
    discard: () => discardBody(response.body),
    follow,
  }
}
