import type { IncomingMessage } from 'node:http'

import { json, problem, type Answer } from '../../server/answer.ts'

/** What an origin answers outside of its API's base path: no token is needed there, and none should arrive. */
export function outsideAnswer({ headers }: IncomingMessage, pathname: string): Answer {
  if (!pathname.startsWith('/outside/')) return problem(404, 'There is no such path')
  return json({ authorization: headers.authorization !== undefined })
}
