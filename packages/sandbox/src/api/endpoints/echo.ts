import { createHash } from 'node:crypto'

import { json, problem } from '../../server/answer.ts'
import type { Endpoint } from './endpoint.ts'

const methods = ['POST', 'PUT', 'PATCH', 'DELETE']

/** Headers that say how a body was sent; none of them can hold a token or a cookie. */
const shownHeaders = new Set([
  'accept',
  'content-encoding',
  'content-length',
  'content-type',
  'transfer-encoding',
  'user-agent',
  'x-request-id',
])

/** `POST|PUT|PATCH|DELETE echo`: responds with what arrived, so that a test can compare the bytes. */
export const echoEndpoint: Endpoint = async ({ request }) => {
  const { method = '', headers } = request
  if (!methods.includes(method)) return problem(405, 'An echo needs a body', { allow: methods.join(', ') })
  const hash = createHash('sha256')
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk)
    length += chunk.length
  }
  return json({
    method,
    length,
    sha256: hash.digest('hex'),
    contentType: headers['content-type'] ?? null,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => shownHeaders.has(name))),
  })
}
