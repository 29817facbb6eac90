import { problem } from '../../server/answer.ts'
import type { Endpoint } from './endpoint.ts'

const statuses = [301, 302, 303, 307, 308]

/** `redirect?to=<url>&status=302`: a relative `to` is resolved against the base URL. */
export const redirectEndpoint: Endpoint = ({ query, baseUrl }) => {
  const to = query.get('to') ?? ''
  const status = Number(query.get('status') ?? '302')
  if (to === '' || !URL.canParse(to, baseUrl)) return problem(400, '"to" must be a URL')
  if (!statuses.includes(status)) return problem(400, `"status" must be one of ${statuses.join(', ')}`)
  return { status, headers: { location: new URL(to, baseUrl).href, 'content-length': 0 } }
}
