import { referrerAfter, type Referrer } from './referrer.ts'

/** One request in a chain of redirects. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly hasBody: boolean
  /** `undefined` where the caller gives none. */
  readonly referrer?: Referrer | undefined
}

/** The call at the head of a chain, as far as its redirects go. */
export interface RedirectedCall extends Hop {
  /** Whether the body can be sent again. */
  readonly replayable: boolean
  readonly mode?: RequestInit['mode'] | undefined
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])

/** Header fields that describe a body, and go with it. */
const bodyFields = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
]
/** Header fields that are meant for one origin. */
const originFields = ['authorization', 'cookie', 'host', 'proxy-authorization']

/** Whether a response leads elsewhere. */
export function isRedirect(response: Response, status: number = response.status): boolean {
  return redirectStatuses.has(status) && response.headers.has('location')
}

/**
 * Returns the request that a redirect asks for after `hop`, as `fetch` would send it.
 *
 * @throws TypeError in the form of Node's own `fetch` for a redirect that it would not follow.
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
export function nextHop(hop: Hop, response: Response, call: RedirectedCall): Hop {
  const { status } = response
  const url = targetOf(response, hop.url)
  if (call.mode === 'same-origin' && url.origin !== call.url.origin)
    throw networkError('request mode cannot be "same-origin"')
  if (hop.hasBody && !call.replayable && status !== 303) throw networkError('the body cannot be sent again')

  const headers = new Headers(hop.headers)
  const referrer = hop.referrer && referrerAfter(hop.referrer, hop.url, response)
  if (url.origin !== hop.url.origin) for (const name of originFields) headers.delete(name)
  if (!becomesGet(status, hop.method))
    return { url, method: hop.method, headers, hasBody: hop.hasBody, referrer }
  for (const name of bodyFields) headers.delete(name)
  return { url, method: 'GET', headers, hasBody: false, referrer }
}

/** The error of Node's own `fetch`. */
export function networkError(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

function targetOf({ headers }: Response, base: URL): URL {
  // servers send UTF-8 here, which `Headers` show as Latin-1
  const bytes = Uint8Array.from(headers.get('location') ?? '', (character) => character.charCodeAt(0))
  const url = parsed(new TextDecoder().decode(bytes), base)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw networkError('URL scheme must be a HTTP(S) scheme')
  if (url.username !== '' || url.password !== '')
    throw networkError('cross origin not allowed for request mode "cors"')
  return url
}

function parsed(location: string, base: URL): URL {
  try {
    return new URL(location, base)
  } catch (cause) {
    throw new TypeError('fetch failed', { cause })
  }
}
