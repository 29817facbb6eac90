import {
  checkCallOptions,
  isReplayable,
  isTokenlaneError,
  type Api,
  type Pass,
  type TokenManager,
} from '@tokenlane/core'
import type {
  AfterResponseHook,
  BeforeErrorHook,
  BeforeRequestHook,
  NormalizedOptions,
  Options,
  PlainResponse,
} from 'got'

import { hideToken, redact, type SentHeaders } from './hide-token.ts'

const managedBy: unique symbol = Symbol.for('tokenlane.managed') as never

type Request = NonNullable<Options['request']>

interface Sent {
  readonly headers: SentHeaders
  readonly href: string
}

/**
 * One call of got, with all its attempts and redirects: each waits for a pass in a hook, and gives it back when
 * its exchange is over. What belongs to a call is kept here, for got's options are open to everybody.
 */
export class Call {
  readonly #tokens: TokenManager
  /** got sends a form as a stream, but makes a new one for each attempt. */
  readonly #hasForm: boolean
  readonly #over = new AbortController()
  #attempt: number | undefined
  #api: Api | undefined
  /** Whether a redirect has led out of the API: no later one gets a token. */
  #outside = false
  #pass: Pass | undefined
  /** The fields that are sent, while they hold the token. */
  #headers: SentHeaders | undefined
  #verdict: 'final' | 'again' | undefined
  /** The caller's, while an attempt is repeated for us. */
  #calculateDelay: Options['retry']['calculateDelay'] | undefined

  constructor(tokens: TokenManager, { hooks, body }: Options) {
    this.#tokens = tokens
    this.#hasForm = body instanceof FormData
    const beforeRequest: BeforeRequestHook = (options, { retryCount }) => this.#admit(options, retryCount)
    // last, so that it sees what the caller's hooks made of the request
    hooks.beforeRequest = [...this.#withoutOurs(hooks.beforeRequest), this.#mark(beforeRequest)]
    if (!hooks.beforeError.includes(ownError)) hooks.beforeError.push(ownError)
  }

  /** The native request was made, with the token among its fields or without. */
  sent(request: NodeJS.EventEmitter): void {
    const pass = this.#pass
    if (pass === undefined || this.#headers === undefined) return
    hideToken(request, this.#headers)
    this.#headers = undefined
    request.once('response', ({ statusCode, headers }: PlainResponse) => {
      this.#verdict = pass.report({
        status: statusCode,
        retryAfter: headers['retry-after'],
        wwwAuthenticate: headers['www-authenticate'],
      })
    })
    request.once('close', () => pass.release())
  }

  /** No more attempts. */
  end(): void {
    this.#over.abort()
    this.#pass?.release()
    this.#forgetToken()
  }

  async #admit(options: NormalizedOptions, retryCount: number): Promise<void> {
    const after = this.#repeated(options)
    if (after === undefined) this.#pass?.release()
    this.#verdict = undefined
    this.#api = this.#route(options, retryCount)
    if (this.#api === undefined) return

    // each time, for a retry that a hook of the caller's asks for has none of the hooks
    const { hooks } = options
    const afterResponse: AfterResponseHook = (response, retry) => this.#judged(response, retry)
    hooks.afterResponse = [this.#mark(afterResponse), ...this.#withoutOurs(hooks.afterResponse)]
    const { priority } = checkCallOptions(options.context['tokenlane'])
    const { signal } = this.#over
    this.#pass = await this.#api.admit({
      // after its end only a stream goes on, in a request of its own that `createRetryStream` made
      signal: signal.aborted ? options.signal : signal,
      priority,
      replayable: !options.isStream && (this.#hasForm || isReplayable(options.body)),
      after,
    })
    if (signal.aborted) this.#pass.release()
    options.request = this.#withToken(options)
  }

  /** The pass to go on with, if this attempt repeats the last one for us. */
  #repeated({ retry }: NormalizedOptions): Pass | undefined {
    this.#forgetToken()
    if (this.#calculateDelay === undefined) return undefined
    retry.calculateDelay = this.#calculateDelay
    this.#calculateDelay = undefined
    return this.#pass
  }

  /** The API whose token goes along. Only a redirect comes without a new attempt. */
  #route({ url, headers }: NormalizedOptions, attempt: number): Api | undefined {
    const isOwn = headers['authorization'] !== undefined
    const api = isOwn || url === undefined ? undefined : this.#tokens.route(url)
    if (attempt === this.#attempt && api !== this.#api) this.#outside = true
    this.#attempt = attempt
    return this.#outside ? undefined : api
  }

  /** got's function of the caller's, or its own, with the token among the fields that it sends. */
  #withToken(options: NormalizedOptions): Request {
    const given = options.request
    return (url, native, callback) => {
      options.request = given
      // with got's `cache`, the options come first
      const { headers, href } = (typeof native === 'function' ? url : { ...native, href: url.href }) as Sent
      if (this.#tokens.route(href) === this.#api && headers['authorization'] === undefined) {
        headers['authorization'] = this.#pass?.authorization
        this.#headers = headers
      }
      return given?.(url, native, callback)
    }
  }

  #judged(...[response, retry]: Parameters<AfterResponseHook>): ReturnType<AfterResponseHook> {
    if (this.#verdict !== 'again') return response
    const { limit = 0, calculateDelay } = response.request.options.retry
    this.#calculateDelay = calculateDelay
    // beyond the caller's limit and delay, which are for the caller's own retries
    const once = { limit: limit + 1, calculateDelay: () => 1 }
    return retry({ preserveHooks: true, retry: once })
  }

  #forgetToken(): void {
    if (this.#headers !== undefined) redact(this.#headers)
    this.#headers = undefined
  }

  #mark<T extends object>(hook: T): T {
    return Object.defineProperty(hook, managedBy, { value: this.#tokens })
  }

  /** Options may have been through a call before: another handler's, or one whose options are used again. */
  #withoutOurs<T extends object>(hooks: readonly T[]): T[] {
    return hooks.filter((hook) => (hook as { [managedBy]?: unknown })[managedBy] !== this.#tokens)
  }
}

/** A failure of ours as it is, not in got's wrapping. */
const ownError: BeforeErrorHook = (error) => {
  const { name, cause } = error
  return name === 'RequestError' && isTokenlaneError(cause) ? cause : error
}
