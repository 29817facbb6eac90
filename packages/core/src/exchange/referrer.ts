/** What a request sends in `Referer`: the two members of a `Request` that decide it. */
export interface Referrer {
  /** A URL, `''` for none, or `about:client`. */
  readonly referrer: string
  readonly referrerPolicy: NonNullable<RequestInit['referrerPolicy']>
}

const policies = new Set<string>([
  'no-referrer',
  'no-referrer-when-downgrade',
  'origin',
  'origin-when-cross-origin',
  'same-origin',
  'strict-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
] satisfies Referrer['referrerPolicy'][])

/**
 * Returns the referrer of the request after a redirect: what is left of it after the request to `sentTo`, and the
 * policy that the redirect asks for.
 *
 * What one request leaves out of its `Referer`, later ones leave out as well, as with `fetch`.
 *
 * @see https://w3c.github.io/webappsec-referrer-policy/#set-requests-referrer-policy-on-redirect
 */
export function referrerAfter(
  { referrer, referrerPolicy }: Referrer,
  sentTo: URL,
  { headers }: Pick<Response, 'headers'>,
): Referrer {
  return {
    referrer: shownTo(sentTo, referrer, referrerPolicy),
    referrerPolicy: policyOf(headers.get('referrer-policy')) ?? referrerPolicy,
  }
}

/** The last policy that is known counts. */
function policyOf(header: string | null): Referrer['referrerPolicy'] | undefined {
  const known = header?.split(',').findLast((name) => policies.has(name.trim()))
  return known?.trim() as Referrer['referrerPolicy'] | undefined
}

/** Redirects are followed by hand within one API only, so a downgrade to `http:` does not come up. */
function shownTo(url: URL, referrer: string, policy: Referrer['referrerPolicy']): string {
  const from = URL.parse(referrer)
  if (from === null || from.protocol === 'about:') return referrer
  if (policy === 'no-referrer') return ''
  if (policy === 'unsafe-url' || policy === 'no-referrer-when-downgrade') return referrer
  if (policy === 'origin' || policy === 'strict-origin') return `${from.origin}/`
  if (from.origin === url.origin) return referrer
  return policy === 'same-origin' ? '' : `${from.origin}/`
}
