import type { IncomingMessage } from 'node:http'

import type { Answer } from '../../server/answer.ts'

/** A call whose token was accepted. */
interface Call {
  request: IncomingMessage
  /** What follows the endpoint's own name in the path, without slashes around it; `''` if nothing does. */
  rest: string
  query: URLSearchParams
  /** Base URL of the API, with its trailing slash. */
  baseUrl: string
}

export type Endpoint = (call: Call) => Answer | Promise<Answer>
