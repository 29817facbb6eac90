import type { Api, TokenManager } from '@tokenlane/core/adapter'
import type { NormalizedOptions } from 'got'

export type NativeHeaders = NormalizedOptions['headers']

/** One attempt of a call, or one redirect of an attempt. */
export interface Hop {
  /** got's count of retries, which is the same for all redirects of an attempt. */
  readonly attempt: number
  readonly href: string | undefined
  /** The API whose token goes along. */
  readonly api: Api | undefined
  /** The API that the caller's own `Authorization` goes to. */
  readonly kept: Api | undefined
  /** Whether a redirect has led out of the API: no later hop gets a token. */
  readonly isOutside: boolean
  readonly isRedirect: boolean
}

/** Returns the hop that got is about to make after `before`, and decides whether a token goes along. */
export function hopTo(
  tokens: TokenManager,
  { url, headers }: NormalizedOptions,
  attempt: number,
  before: Hop | undefined,
): Hop {
  // a hop that is not a new attempt is a redirect
  const isRedirect = attempt === before?.attempt
  const reached = url === undefined ? undefined : tokens.route(url)
  const kept = hasOwnToken(headers) ? reached : undefined
  const found = kept === undefined ? reached : undefined
  const isOutside = before?.isOutside === true || (isRedirect && found !== before.api)
  const api = isOutside ? undefined : found
  return { attempt, href: url?.href, api, kept, isOutside, isRedirect }
}

export function hasOwnToken(headers: NativeHeaders): boolean {
  const { authorization } = headers
  // before 16.1, got hands over the headers of its own options
  if (authorization === redacted) delete headers['authorization']
  // an empty one, as generated clients set it, is none
  return authorization !== undefined && authorization !== redacted && String(authorization).trim() !== ''
}

/** Takes the place of a token that was sent: a cache has to see that there was one. */
const redacted = '[redacted]'

export function redact(headers: NativeHeaders): void {
  headers['authorization'] = redacted
}
