import type { IncomingMessage } from 'node:http'

import { json, problem, type Answer } from '../../server/answer.ts'

/** Returns the response to a request outside the API's base path, where no token should arrive. */
export function outsideAnswer({ headers }: IncomingMessage, pathname: string): Answer {
  if (!pathname.startsWith('/outside/')) return problem(404, 'Unknown path')
  return json({ authorization: headers.authorization !== undefined })
}
