/** One request in a chain of redirects, but for its body. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly init: RequestInit
  readonly hasBody: boolean
  readonly replayable: boolean
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])

/** Header fields that describe a body, and go with it. */
const bodyFields = ['encoding', 'language', 'length', 'location', 'type'].map((part) => `content-${part}`)
const originFields = ['authorization', 'cookie', 'host', 'proxy-authorization']

const referrerPolicies =
  /^(?:no-referrer(?:-when-downgrade)?|same-origin|(?:strict-)?origin(?:-when-cross-origin)?|unsafe-url)$/

export function isRedirect({ status, headers }: Response): boolean {
  return redirectStatuses.has(status) && headers.has('location')
}

/**
 * Returns the request that a redirect asks for after `hop`, as `fetch` would send it.
 *
 * @throws TypeError in the form of Node's own `fetch` for a redirect that it would not follow.
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
export function nextHop(hop: Hop, response: Response): Hop {
  const { method, hasBody, replayable } = hop
  const { status } = response
  const url = targetOf(response, hop.url)
  const isSameOrigin = url.origin === hop.url.origin
  if (hop.init.mode === 'same-origin' && !isSameOrigin)
    throw networkError('request mode cannot be "same-origin"')
  if (hasBody && !replayable && status !== 303) throw networkError('the body cannot be sent again')

  const init = { ...hop.init, ...referrerAfter(hop, response) }
  const headers = new Headers(hop.headers)
  if (!isSameOrigin) for (const name of originFields) headers.delete(name)
  const becomesGet =
    status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST'
  if (!becomesGet) return { ...hop, url, headers, init }
  for (const name of bodyFields) headers.delete(name)
  return { url, method: 'GET', headers, init, hasBody: false, replayable: true }
}

export function networkError(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
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

/**
 * Returns the referrer of the request after a redirect, where the caller gave one: what the request before has left of
 * it, and the last known policy that the redirect asks for.
 *
 * @see https://w3c.github.io/webappsec-referrer-policy/#set-requests-referrer-policy-on-redirect
 */
function referrerAfter({ url, init }: Hop, { headers }: Response): RequestInit {
  const { referrer, referrerPolicy = '' } = init
  if (referrer === undefined) return {}
  const asked = headers.get('referrer-policy')?.split(',') ?? []
  const known = asked.map((name) => name.trim()).findLast((name) => referrerPolicies.test(name))
  return {
    referrer: shownTo(url, referrer, referrerPolicy),
    referrerPolicy: (known as RequestInit['referrerPolicy']) ?? referrerPolicy,
  }
}

/** Redirects are followed by hand within one API only, so a downgrade to `http:` does not come up. */
function shownTo(url: URL, referrer: string, policy: RequestInit['referrerPolicy']): string {
  const from = URL.parse(referrer)
  if (from === null || from.protocol === 'about:') return referrer
  if (policy === 'no-referrer') return ''
  if (policy === 'unsafe-url' || policy === 'no-referrer-when-downgrade') return referrer
  if (policy === 'origin' || policy === 'strict-origin') return `${from.origin}/`
  if (from.origin === url.origin) return referrer
  return policy === 'same-origin' ? '' : `${from.origin}/`
}
