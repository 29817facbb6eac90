import { forgetToken, printAsRequest, redactHeaders } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

/**
 * Takes the token off a response or an error of axios and off the request that it leads to. `sent` is the configuration
 * that the attempt was sent with, and `given` the one to show in its place. The caller hides the request: see
 * `hidden-request.ts`.
 */
export function scrub(outcome: unknown, sent: Config, given: Config): void {
  const traces = { sent, withToken: sent.headers, given }
  // also for what holds on to the attempt, such as a stream
  sent.headers = given.headers
  scrubHolder(outcome, traces)
  scrubHolder(responseOf(outcome), traces)
}

/** Returns the response of an error. */
export function responseOf(outcome: unknown): unknown {
  return (outcome as { readonly response?: unknown } | null | undefined)?.response
}

interface Traces {
  readonly sent: Config
  readonly withToken: Config['headers']
  readonly given: Config
}

function scrubHolder(holder: unknown, { sent, withToken, given }: Traces): void {
  if (typeof holder !== 'object' || holder === null) return
  const held = holder as { config?: Partial<Config>; request?: unknown }
  if (held.config === sent) held.config = given
  // an adapter around another one may hand on a copy
  else if (held.config?.headers === withToken) held.config.headers = given.headers
  scrubRequest(held.request)
  if (Number(given.httpVersion) === 2 && given.responseType !== 'stream') stopTimer(held.request)
}

/** Scrubs a request of `node:http`, one of follow-redirects around it, or one of `fetch`. */
function scrubRequest(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  const { _redirectable: redirects = request } = request as { readonly _redirectable?: object }
  if (redirects === request && request instanceof Request) return request.headers.delete('authorization')
  const { _currentRequest: native = request, _options: options } = redirects as {
    readonly _currentRequest?: object
    readonly _options?: { readonly headers?: unknown }
  }
  redactHeaders(options?.headers)
  forgetToken(native)
  // its own headers are those options
  if (redirects !== native) printAsRequest(redirects)
}

/**
 * Stops the timer of a request of `node:http2`, which axios leaves to the end of the stream and ignores once the call is
 * over: Node keeps timers of one length in a list, which leads to the requests of other calls.
 */
function stopTimer(request: unknown): void {
  if (typeof request !== 'object' || request === null || !('sentHeaders' in request)) return
  ;(request as { setTimeout?(ms: number): unknown }).setTimeout?.(0)
}
