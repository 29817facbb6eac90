import type { Api, TokenManager } from '@tokenlane/core/adapter'
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import type { Target } from './target.ts'

const inspect = Symbol.for('nodejs.util.inspect.custom')

/** Where an attempt goes, and with what beside the caller's configuration. */
export interface Lane {
  readonly authorization: string
  readonly api: Api
  readonly tokens: TokenManager
  readonly target: Target
  /** Whether axios sends it with `fetch`. */
  readonly viaFetch: boolean
}

/** What one attempt is sent with, and how to take the token off what comes of it. */
export interface Attempt {
  readonly config: InternalAxiosRequestConfig
  /** Puts the caller's configuration, without the token, in place of the attempt's. */
  clean<T>(outcome: T): T
  /** The status of the redirect after which the call is not to be judged by its end; else `undefined`. */
  lastAnswerToToken(): number | undefined
}

/** A copy of the caller's configuration with the token, which goes to the adapter and nowhere else. */
export function createAttempt(
  given: InternalAxiosRequestConfig,
  { authorization, api, tokens, target, viaFetch }: Lane,
): Attempt {
  let judgedBy: number | undefined
  // `concat` makes new headers; setting a field would change the caller's
  const sent = given.headers.concat({ Authorization: authorization })
  const beforeRedirect: InternalAxiosRequestConfig['beforeRedirect'] = (options, response, request) => {
    const place = placeOf(options)
    given.beforeRedirect?.(options, response, request)
    // where the caller sends it instead is not what `href` says
    const asTold = placeOf(options) === place
    const stays = judgedBy === undefined && asTold && tokens.route(String(options['href'])) === api
    if (!stays) drop(authorization, options['headers'] as Record<string, unknown>)
    // nor may what a POST did before it was redirected to a GET be done twice
    if (!stays || options['method'] !== request.method) judgedBy ??= response.statusCode
  }
  const config = Object.assign(copyOf(given), target, { headers: sent, beforeRedirect })
  // fetch shows no redirect before it follows it
  if (viaFetch && followsInFetch(given)) config.maxRedirects = 0

  return {
    config,
    lastAnswerToToken: () => judgedBy,
    clean(outcome) {
      // also for what holds on to the attempt, such as a stream
      config.headers = given.headers
      scrub(outcome)
      scrub((outcome as Partial<AxiosResponse> & { response?: unknown })?.response)
      return outcome
    },
  }

  function scrub(holder: unknown): void {
    if (typeof holder !== 'object' || holder === null) return
    const held = holder as { config?: Partial<typeof config>; data?: unknown }
    if (held.config === config) held.config = given
    // an adapter around another one may hand on a copy
    else if (held.config?.headers === sent) held.config.headers = given.headers
    redact((held as { request?: unknown }).request)
    hide(held, 'request')
    if (given.responseType === 'stream') for (const name of ['req', 'socket', 'client']) hide(held.data, name)
  }
}

/** Without a prototype, as axios makes it, so that nobody pollutes it. To spread that costs three times as much. */
function copyOf(given: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
  const from = given as unknown as Record<PropertyKey, unknown>
  const copy = Object.create(null) as Record<PropertyKey, unknown>
  for (const name of Object.keys(from)) copy[name] = from[name]
  for (const symbol of Object.getOwnPropertySymbols(from)) copy[symbol] = from[symbol]
  return copy as unknown as InternalAxiosRequestConfig
}

function placeOf(options: Record<string, unknown>): string {
  return ['href', 'protocol', 'hostname', 'host', 'port', 'path', 'socketPath']
    .map((name) => String(options[name]))
    .join(' ')
}

/** Not what the caller's own hook may have put in its place. */
function drop(authorization: string, headers: Record<string, unknown>): void {
  for (const name of Object.keys(headers)) if (headers[name] === authorization) delete headers[name]
}

/** The request that was sent holds the token: keeps it out of what prints or serializes its holder. */
function hide(holder: unknown, name: string): void {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return
  Object.defineProperty(holder, name, { enumerable: false })
}

const asRequest = (): string => '[request]'

/**
 * A request, and what follow-redirects wraps it in, is also held by sockets, and these by the caller's agent. Its
 * fields have been sent by now; hiding them instead would make Node's own work with the request slow.
 */
function redact(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  const sent = request as Record<string | symbol, unknown>
  if (sent[inspect] === asRequest) return
  // not with `defineProperty`, which is slower
  sent[inspect] = asRequest
  if (typeof sent['_header'] === 'string') sent['_header'] = '[redacted]'
  const { _redirectable, _currentRequest, _options } = sent
  // a socket keeps the options of the request that opened it
  const { headers } = (_options ?? {}) as { headers?: Record<string, unknown> | null }
  if (typeof headers?.['Authorization'] === 'string') headers['Authorization'] = '[redacted]'
  redact(_redirectable)
  redact(_currentRequest)
}

function followsInFetch({ fetchOptions }: InternalAxiosRequestConfig): boolean {
  const redirect: unknown = (fetchOptions as { redirect?: unknown } | undefined)?.redirect
  return redirect === undefined || redirect === 'follow'
}
