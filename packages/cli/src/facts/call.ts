import {
  isTokenlaneError,
  type TokenlaneError,
  type TokenlaneEvent,
  type TokenManager,
} from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

/** What became of one call with a token. */
export interface CallFacts {
  /** Without its query. */
  readonly url: string
  /** The `baseUrl` of its API; `undefined` where it belongs to none and was not sent. */
  readonly api?: string
  readonly status?: number
  /** The error code of the `WWW-Authenticate` header (RFC 6750 §3.1), if it is a known one. */
  readonly challenge?: string
  /** Whether the response is an HTML page. */
  readonly isHtml?: boolean
  /** Names of the rate limit headers that came. */
  readonly rateHeaders?: readonly string[]
  /** How often it was sent. */
  readonly sends?: number
  readonly error?: TokenlaneError
  /** Code of the transport's failure. */
  readonly failure?: string
}

const challenges = ['invalid_token', 'insufficient_scope', 'invalid_request']

/** Makes one GET request through the token manager, and reads no more of the response than its head. */
export async function lookAtCall(tokens: TokenManager, given: string): Promise<CallFacts> {
  const { origin, pathname } = new URL(given)
  const url = origin + pathname
  const api = tokens.route(given)?.baseUrl
  if (api === undefined) return { url }
  let sends: number | undefined
  const off = tokens.observe((event: TokenlaneEvent) => {
    if (event.type === 'call.finished' && event.api === api) sends = event.sends
  })
  try {
    const response = await createFetch(tokens)(given, {
      signal: AbortSignal.timeout(15_000),
      redirect: 'manual',
    })
    const { status, headers } = response
    await response.body?.cancel()
    const authenticate = headers.get('www-authenticate') ?? ''
    const challenge = challenges.find((code) => authenticate.includes(`error="${code}"`))
    const rateHeaders = Array.from(headers.keys()).filter((name) => /^(?:x-)?ratelimit/.test(name))
    const isHtml = headers.get('content-type')?.startsWith('text/html') === true
    return { url, api, status, isHtml, rateHeaders, ...(challenge && { challenge }), ...(sends && { sends }) }
  } catch (error) {
    if (isTokenlaneError(error)) return { url, api, error }
    const { cause, name } = error as { cause?: { code?: unknown }; name?: unknown }
    return { url, api, failure: String(cause?.code ?? name) }
  } finally {
    off()
  }
}
