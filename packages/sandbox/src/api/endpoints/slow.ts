import { json, problem } from '../../server/answer.ts'
import { pause } from '../../faults/latency.ts'
import { wholeNumber } from './whole-number.ts'
import type { Endpoint } from './endpoint.ts'

const longest = 600_000

/** `slow?ms=1000`: responds after `ms` milliseconds. */
export const slowEndpoint: Endpoint = async ({ query }) => {
  const ms = wholeNumber(query.get('ms') ?? '', { min: 0, max: longest })
  if (ms === undefined) return problem(400, `"ms" must be a whole number from 0 to ${longest}`)
  await pause(ms)
  return json({ waited: ms })
}
