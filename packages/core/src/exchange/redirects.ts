import { discardBody } from './discard-body.ts'

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly hasBody: boolean
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])
const mostRedirects = 20

/** Fields that describe a body, and go with it. */
const bodyFields = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
]
/** Fields that are meant for one origin. */
const originFields = ['authorization', 'cookie', 'host', 'proxy-authorization']

/** Whether an answer leads elsewhere. */
export function isRedirect({ status, headers }: Response): boolean {
  return redirectStatuses.has(status) && headers.has('location')
}

/**
 * Follows the redirects of an answer, as `fetch` would, so that each hop can be asked whether it gets the token.
 * `send` sends a hop with `redirect: 'manual'`; what it throws is passed on.
 *
 * @throws TypeError in the form of Node's own `fetch` for a redirect that cannot be followed.
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
export async function followRedirects(
  answer: Response,
  call: Hop & { readonly replayable: boolean },
  send: (hop: Hop) => Promise<Response>,
): Promise<Response> {
  let response = answer
  let hop: Hop = call
  for (let redirects = 0; ; redirects += 1) {
    const location = redirectStatuses.has(response.status) ? response.headers.get('location') : null
    if (location === null) return redirects === 0 ? response : markRedirected(response)
    await discardBody(response.body)
    if (redirects === mostRedirects) throw networkError('redirect count exceeded')
    hop = nextHop(hop, response.status, targetOf(location, hop.url))
    if (hop.hasBody && !call.replayable) throw networkError('the body cannot be sent again')
    response = await send(hop)
  }
}

function nextHop(hop: Hop, status: number, url: URL): Hop {
  const headers = new Headers(hop.headers)
  if (url.origin !== hop.url.origin) for (const name of originFields) headers.delete(name)
  if (!becomesGet(status, hop.method)) return { url, method: hop.method, headers, hasBody: hop.hasBody }
  for (const name of bodyFields) headers.delete(name)
  return { url, method: 'GET', headers, hasBody: false }
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

function targetOf(location: string, base: URL): URL {
  // servers send UTF-8 here, which a header field shows as Latin-1
  const bytes = Uint8Array.from(location, (character) => character.charCodeAt(0))
  const url = URL.parse(new TextDecoder().decode(bytes), base.href)
  if (url === null) throw networkError('invalid redirect URL')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw networkError('URL scheme must be a HTTP(S) scheme')
  if (url.username !== '' || url.password !== '')
    throw networkError('URL of a redirect must not hold credentials')
  return url
}

/** In the form of Node's own `fetch`. */
function networkError(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
}

function markRedirected(response: Response): Response {
  return Object.defineProperty(response, 'redirected', { value: true, configurable: true, enumerable: true })
}
