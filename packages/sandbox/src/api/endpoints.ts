import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

import { recordIndex, recordAt } from './business-record.ts'
import { pause } from '../faults/latency.ts'
import { type Answer, json, problem, invalidToken } from '../server/answer.ts'

interface Call {
  request: IncomingMessage
  /** What follows the endpoint's own name in the path, without slashes around it; `''` if nothing does. */
  rest: string
  query: URLSearchParams
  /** Base URL of the API, with its trailing slash. */
  baseUrl: string
}

export type Endpoint = (call: Call) => Answer | Promise<Answer>

/**
 * Returns the number that a text of digits stands for; `undefined` if it is out of range or has a sign, a fraction, an
 * exponent or a space.
 */
function wholeNumber(text: string, { min, max }: { min: number; max: number }): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const number = Number(text)
  return number >= min && number <= max ? number : undefined
}

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

const largestPage = 1_000

/** `GET records?page=1&size=100` and `GET records/:id`, over `total` records. */
export function recordsEndpoint(total: number): Endpoint {
  return ({ request, rest, query, baseUrl }) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return problem(405, 'Records can only be read', { allow: 'GET, HEAD' })
    }
    if (rest !== '') {
      const index = recordIndex(rest)
      if (index === undefined || index >= total) return problem(404, 'Unknown record')
      return json(recordAt(index))
    }
    const page = wholeNumber(query.get('page') ?? '1', { min: 1, max: Number.MAX_SAFE_INTEGER })
    const size = wholeNumber(query.get('size') ?? '100', { min: 1, max: largestPage })
    if (page === undefined || size === undefined) {
      return problem(
        400,
        `"page" must be a whole number of at least 1, and "size" a whole number from 1 to ${largestPage}`,
      )
    }
    const pages = Math.ceil(total / size)
    const first = (page - 1) * size
    const length = Math.max(0, Math.min(size, total - first))
    return json({
      page,
      pages,
      total,
      next: page < pages ? `${baseUrl}records?page=${page + 1}&size=${size}` : null,
      records: Array.from({ length }, (_, offset) => recordAt(first + offset)),
    })
  }
}

const statuses = [301, 302, 303, 307, 308]

/** `redirect?to=<url>&status=302`: a relative `to` is resolved against the base URL. */
export const redirectEndpoint: Endpoint = ({ query, baseUrl }) => {
  const to = query.get('to') ?? ''
  const status = Number(query.get('status') ?? '302')
  if (to === '' || !URL.canParse(to, baseUrl)) return problem(400, '"to" must be a URL')
  if (!statuses.includes(status)) return problem(400, `"status" must be one of ${statuses.join(', ')}`)
  return { status, headers: { location: new URL(to, baseUrl).href, 'content-length': 0 } }
}

const longest = 600_000

/** `slow?ms=1000`: responds after `ms` milliseconds. */
export const slowEndpoint: Endpoint = async ({ query }) => {
  const ms = wholeNumber(query.get('ms') ?? '', { min: 0, max: longest })
  if (ms === undefined) return problem(400, `"ms" must be a whole number from 0 to ${longest}`)
  await pause(ms)
  return json({ waited: ms })
}

const statusesWithoutBody = new Set([204, 205, 304])

/** `status/:code`: responds with that status. */
export const statusEndpoint: Endpoint = ({ rest }) => {
  const status = wholeNumber(rest, { min: 200, max: 599 })
  if (status === undefined) return problem(404, 'A status is a whole number from 200 to 599')
  if (statusesWithoutBody.has(status)) return { status }
  if (status === 401) return invalidToken('The call asked for this status')
  return { ...json({ status }), status }
}

/** Returns the response to a request outside the API's base path, where no token should arrive. */
export function outsideAnswer({ headers }: IncomingMessage, pathname: string): Answer {
  if (!pathname.startsWith('/outside/')) return problem(404, 'Unknown path')
  return json({ authorization: headers.authorization !== undefined })
}
