import { json, problem } from '../../server/answer.ts'
import { recordIndex, recordAt } from '../business-record.ts'
import { wholeNumber } from './whole-number.ts'
import type { Endpoint } from './endpoint.ts'

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
