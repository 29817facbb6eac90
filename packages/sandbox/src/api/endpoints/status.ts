import { invalidToken, json, problem } from '../../server/answer.ts'
import { wholeNumber } from './whole-number.ts'
import type { Endpoint } from './endpoint.ts'

const statusesWithoutBody = new Set([204, 205, 304])

/** `status/:code`: responds with that status. */
export const statusEndpoint: Endpoint = ({ rest }) => {
  const status = wholeNumber(rest, { min: 200, max: 599 })
  if (status === undefined) return problem(404, 'A status is a whole number from 200 to 599')
  if (statusesWithoutBody.has(status)) return { status }
  if (status === 401) return invalidToken('The call asked for this status')
  return { ...json({ status }), status }
}
