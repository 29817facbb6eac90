import {
  isTokenlaneError,
  type TokenlaneError,
  type TokenlaneEvent,
  type TokenManager,
} from '@tokenlane/core'
import { printable, quotesAny } from '@tokenlane/core/adapter'
import { createFetch } from '@tokenlane/fetch'

import { failureCode } from '../failure-code.ts'
import { challengeOf } from '../metadata/protected-resource.ts'

export interface CallFacts {
  /** The URL without its query. */
  readonly url: string
  /** The `baseUrl` of its API; `undefined` if the URL is outside every configured API and the call was not sent. */
  readonly api?: string
  readonly status?: number
  /** How long the response or the failure took, in milliseconds; `undefined` if the call was not sent. */
  readonly duration?: number
  /** The error code of the `WWW-Authenticate` header (RFC 6750 §3.1), if it is a known one. */
  readonly challenge?: string
  /** What the header says of the refusal, in the API's words; not set if they repeat a part of the token. */
  readonly description?: string
  /** The schemes that the header asks for, where `Bearer` is not one of them. */
  readonly otherSchemes?: readonly string[]
  readonly scope?: string
  /** Where the API says that its metadata is (RFC 9728 §5.1). */
  readonly resourceMetadata?: string
  readonly isHtml?: boolean
  /** The other origin that the response redirects to. */
  readonly redirectedTo?: string
  readonly rateHeaders?: readonly string[]
  readonly isTokenRefused?: boolean
  /** Whether it accepted the next one, though the issuer had just issued the token that it refused. */
  readonly isNextAccepted?: boolean
  readonly error?: TokenlaneError
  readonly failure?: string
}

const challenges = ['invalid_token', 'insufficient_scope', 'invalid_request']

/**
 * Makes one GET request through the token manager and returns what its status and headers say. If the API refuses a token
 * that is not to be renewed, a second request with the next token shows whether it refuses that one too.
 */
export async function lookAtCall(tokens: TokenManager, given: string, mayRenew: boolean): Promise<CallFacts> {
  const facts = await makeCall(tokens, given, mayRenew)
  if (mayRenew || facts.status !== 401 || facts.isTokenRefused !== true) return facts
  const { status = 401 } = await makeCall(tokens, given, false)
  return { ...facts, isNextAccepted: status !== 401 }
}

/**
 * Makes one GET request through the token manager and returns what its status and headers say. The body is not read.
 *
 * @param mayRenew whether a token that the API refuses is renewed and the request sent again.
 */
async function makeCall(tokens: TokenManager, given: string, mayRenew: boolean): Promise<CallFacts> {
  const { origin, pathname } = new URL(given)
  const url = origin + pathname
  const api = tokens.route(given)?.baseUrl
  if (api === undefined) return { url }
  let isTokenRefused = false
  const sent: string[] = []
  const recording: typeof fetch = async (input, init) => {
    const { headers } = new Request(input, init)
    sent.push(...(headers.get('authorization')?.split(' ').slice(1) ?? []))
    return fetch(input, init)
  }
  const start = performance.now()
  const off = tokens.observe((event: TokenlaneEvent) => {
    if (event.type === 'token.rejected' && event.api === api) isTokenRefused = true
  })
  try {
    const response = await createFetch(tokens, { fetch: recording })(given, {
      signal: AbortSignal.timeout(15_000),
      redirect: 'manual',
      tokenlane: { resend: mayRenew },
    })
    const duration = performance.now() - start
    const { status, headers } = response
    await response.body?.cancel()
    const authenticate = headers.get('www-authenticate') ?? ''
    const challenge = challenges.find((code) => authenticate.includes(`error="${code}"`))
    const { schemes, resourceMetadata, scope, description } = challengeOf(authenticate)
    const redirectedTo = otherOrigin(given, headers.get('location'))
    const rateHeaders = Array.from(headers.keys()).filter((name) => /^(?:x-)?ratelimit/.test(name))
    const isHtml = headers.get('content-type')?.startsWith('text/html') === true
    return {
      url,
      api,
      status,
      duration,
      isHtml,
      isTokenRefused,
      rateHeaders,
      ...(challenge && { challenge }),
      ...(description && !quotesAny(description, sent) && { description: printable(description, 200) }),
      ...(!schemes.includes('bearer') && { otherSchemes: schemes.map((scheme) => printable(scheme, 40)) }),
      ...(scope && { scope: printable(scope, 200) }),
      ...(redirectedTo && { redirectedTo }),
      ...(resourceMetadata && { resourceMetadata }),
    }
  } catch (error) {
    if (isTokenlaneError(error)) return { url, api, error }
    return { url, api, failure: failureCode(error), duration: performance.now() - start }
  } finally {
    off()
  }
}

/** Returns the origin of a `Location` header if it is another than that of the call. */
function otherOrigin(from: string, location: string | null): string | undefined {
  const to = location === null ? null : URL.parse(location, from)
  return to === null || to.origin === new URL(from).origin ? undefined : printable(to.origin, 200)
}
