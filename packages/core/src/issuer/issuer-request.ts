import { allowInsecureRequests, customFetch } from 'oauth4webapi'
import { TokenlaneError, type TokenlaneErrorCode, type TokenlaneErrorDetails } from '../errors.ts'
import { abortable } from '../time/abortable.ts'
import { parseHttpDate } from '../time/http-date.ts'
import { parseRetryAfter } from '../time/retry-after.ts'
import { dispatcherMustKeepFloor } from '../tls/tls-dispatcher.ts'
import { describeFault, unusedProxy } from './transport-fault.ts'
import { uncached } from './uncached.ts'

/** One request to an issuer: where it goes, what sends it, and what no message may quote. */
export interface IssuerRequest {
  /** Name of the issuer. */
  readonly issuer: string
  readonly url: URL
  /** `undefined` for the runtime's `fetch` at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly secrets: readonly string[]
  readonly signal: AbortSignal
  /** Called with every URL just before it is asked. */
  readonly asking?: ((url: URL) => void) | undefined
}

/** A response of the issuer, read as a whole. */
export interface IssuerResponse {
  readonly status: number
  readonly body: string
  readonly retryAfter: number | undefined
  /** The `Date` of the response, in epoch milliseconds: the issuer's clock (RFC 9110 §6.6.1). */
  readonly date: number | undefined
  readonly isHtml: boolean
  /** Whether `WWW-Authenticate` asks for a bearer token (RFC 6750 §3), as an API does. */
  readonly isBearer: boolean
}

/** What oauth4webapi is given with every request. */
export interface RequestOptions {
  readonly signal: AbortSignal
  readonly [allowInsecureRequests]: true
  readonly [customFetch]: (to: string, init: object) => Promise<Response>
}

/** A token response is a few KiB, and so is metadata. */
const largest = 1_048_576

class ResponseTooLarge extends Error {}

/**
 * Sends one request to an issuer and reads its response, whatever its status.
 *
 * @throws TokenlaneError `TOKEN_REQUEST_FAILED` with what failed on the way, `TOKEN_REQUEST_TIMEOUT` when the signal
 * aborts, `INSECURE_TRANSPORT` below TLS 1.2, `TOKEN_RESPONSE_INVALID` for a response that is too large.
 */
export async function askServer(
  request: IssuerRequest,
  send: (options: RequestOptions) => Promise<Response>,
): Promise<IssuerResponse> {
  const { url, fetch, secrets, signal, asking } = request
  const ownFetch = fetch !== undefined
  dispatcherMustKeepFloor({
    url: url.href,
    ownFetch,
    refuse(reason) {
      throw failure(request, 'INSECURE_TRANSPORT', `was sent no request: ${reason}`, { definite: true })
    },
  })
  try {
    const response = send({
      signal,
      // the URL was checked: https:, or http: to a loopback host
      [allowInsecureRequests]: true,
      // the `fetch` of some frameworks caches responses, and would return an old token
      [customFetch](to, init) {
        asking?.(new URL(to))
        return uncached(fetch)(to, init)
      },
    })
    // a `fetch` that ignores the signal must not delay the calls that wait for the token
    return await abortable(response.then(read), signal)
  } catch (error) {
    if (error instanceof ResponseTooLarge)
      throw failure(request, 'TOKEN_RESPONSE_INVALID', 'responded with more than 1 MiB')
    if (signal.aborted)
      throw failure(request, 'TOKEN_REQUEST_TIMEOUT', `did not respond in time${unusedProxy(url, ownFetch)}`)
    const { reason, tlsTooOld, definite, cause } = await describeFault(error, url, secrets, ownFetch)
    throw failure(request, tlsTooOld ? 'INSECURE_TRANSPORT' : 'TOKEN_REQUEST_FAILED', reason, {
      cause,
      ...(definite && { definite }),
    })
  }
}

/** Returns the error of a request to an issuer; `reason` goes on after its name and URL, without the query. */
export function failure(
  { issuer, url }: Pick<IssuerRequest, 'issuer' | 'url'>,
  code: TokenlaneErrorCode,
  reason: string,
  details?: TokenlaneErrorDetails,
): TokenlaneError {
  const place = url.origin + url.pathname
  return new TokenlaneError(code, `Cannot obtain token: issuer "${issuer}" (${place}) ${reason}`, {
    issuer,
    ...details,
  })
}

/**
 * Returns the response as JSON, whatever its content type. oauth4webapi refuses JSON that is labelled as text, as some
 * servers do, and an RFC 6749 error beside a `WWW-Authenticate` challenge, as most servers do.
 */
export function asJson({ status, body }: IssuerResponse): Response {
  const empty = status === 204 || status === 205 || status === 304
  return new Response(empty ? null : body, { status, headers: { 'content-type': 'application/json' } })
}

/** Reads the whole response, up to a bound, so that a slow or endless one ends with the request. */
async function read({ status, headers, body: stream }: Response): Promise<IssuerResponse> {
  const decoder = new TextDecoder()
  let body = ''
  let size = 0
  for await (const chunk of (stream ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > largest) throw new ResponseTooLarge()
    body += decoder.decode(chunk, { stream: true })
  }
  const date = parseHttpDate(headers.get('date'))
  return {
    status,
    body: body + decoder.decode(),
    // a date is compared with the issuer's own clock, since ours may be an hour off
    retryAfter: parseRetryAfter(headers.get('retry-after'), date ?? Date.now()),
    date,
    isHtml: /^\s*text\/html\b/i.test(headers.get('content-type') ?? ''),
    isBearer: /^\s*bearer\b/i.test(headers.get('www-authenticate') ?? ''),
  }
}
