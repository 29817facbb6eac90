import type { Exchange } from '@tokenlane/core/adapter'
import type { AxiosHeaders, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import { discard } from './discard.ts'
import { hideRequest, withRequestHidden } from './hidden-request.ts'
import { RedirectRule, type RedirectContext } from './redirect-rule.ts'
import { responseOf, scrub } from './scrub.ts'
import type { Target } from './target.ts'
import type { Via } from './via.ts'

/** What an attempt is sent with, beside the caller's configuration. */
export interface AttemptContext extends Omit<RedirectContext, 'given' | 'authorization'> {
  readonly target: Target
  readonly via: Via
}

/** What the caller gets: a response, or the error that axios made. */
export type Outcome = { readonly response: AxiosResponse } | { readonly error: unknown }

/** One attempt: its configuration, which alone has the token, and what becomes of its outcome. */
export class Attempt {
  readonly config: InternalAxiosRequestConfig
  readonly #given: InternalAxiosRequestConfig
  readonly #via: Via
  #redirects: RedirectRule | undefined

  /** Copies the caller's configuration, with the token, for the adapter and nothing else. */
  constructor(given: InternalAxiosRequestConfig, authorization: string, context: AttemptContext) {
    const { target, via } = context
    this.#given = given
    this.#via = via
    const config = copyOf(given)
    config.url = target.url
    // most calls have none, and one more property costs more than the look
    if ((config.baseURL ?? '') !== target.baseURL) config.baseURL = target.baseURL
    if (config.allowAbsoluteUrls !== target.allowAbsoluteUrls)
      config.allowAbsoluteUrls = target.allowAbsoluteUrls
    config.headers = headersWith(authorization, given.headers)
    config.beforeRedirect = (...redirect) => {
      // most calls are not redirected
      this.#redirects ??= new RedirectRule(context, authorization, given.beforeRedirect)
      this.#redirects.beforeRedirect(...redirect)
    }
    // fetch shows no redirect before it follows it
    if (via === 'fetch' && followsInFetch(given)) config.maxRedirects = 0
    this.config = config
  }

  /** Takes the token off the response. An adapter that returns nothing is a TypeError, as with axios alone. */
  readonly received = (response: AxiosResponse): Exchange<Outcome> => {
    scrub(response, this.config, this.#given)
    const shown = withRequestHidden(response, this.#given, this.#via)
    return new AxiosExchange({ response: shown }, shown, this.#redirects?.judgedBy)
  }

  /** Takes the token off the error. A status that axios makes an error of is a response like any other. */
  readonly failed = (error: unknown): Exchange<Outcome> => {
    scrub(error, this.config, this.#given)
    const response = responseOf(error) as AxiosResponse | undefined
    hideRequest(error, this.#given)
    hideRequest(response, this.#given)
    if (response === undefined) throw error
    return new AxiosExchange({ error }, response, this.#redirects?.judgedBy)
  }
}

/** One exchange. Reads only what core asks for, which for nearly every response is its status. */
class AxiosExchange implements Exchange<Outcome> {
  readonly result: Outcome
  readonly status: number
  readonly #response: AxiosResponse

  constructor(result: Outcome, response: AxiosResponse, judgedBy: number | undefined) {
    this.result = result
    this.status = judgedBy ?? response.status
    this.#response = response
  }

  get retryAfter(): string | undefined {
    return this.header('retry-after')
  }

  get wwwAuthenticate(): string | undefined {
    return this.header('www-authenticate')
  }

  header(name: string): string | undefined {
    const value: unknown = this.#response.headers?.[name]
    return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined
  }

  discard(): Promise<void> {
    return discard(this.#response)
  }
}

/** Copies without a prototype, as axios does, against polluted ones. Spreading that would cost three times as much. */
function copyOf(given: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
  const from = given as unknown as Record<PropertyKey, unknown>
  const copy = Object.create(null) as Record<PropertyKey, unknown>
  for (const name of Object.keys(from)) copy[name] = from[name]
  for (const symbol of Object.getOwnPropertySymbols(from)) copy[symbol] = from[symbol]
  return copy as unknown as InternalAxiosRequestConfig
}

/**
 * Returns new headers with the token: setting it would change the caller's. Each field is a property of AxiosHeaders, and
 * was checked when it was set; `concat` would do that again, which takes 1.5 µs.
 */
function headersWith(authorization: string, given: AxiosHeaders): AxiosHeaders {
  const Class = given.constructor as typeof AxiosHeaders
  return Object.assign(new Class(), given, { Authorization: authorization })
}

function followsInFetch({ fetchOptions }: InternalAxiosRequestConfig): boolean {
  const redirect: unknown = (fetchOptions as { redirect?: unknown } | undefined)?.redirect
  return redirect === undefined || redirect === 'follow'
}
