import {
  agentMustKeepFloor,
  checkCallOptions,
  isReplayable,
  settingsMustKeepFloor,
  type Api,
  type Pass,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { AfterResponseHook, BeforeRequestHook, NormalizedOptions, Options, PlainResponse } from 'got'

import { forgetToken, hideToken, redact, type SentFields } from './hide-token.ts'
import { ownError } from './own-error.ts'

const managedBy: unique symbol = Symbol.for('tokenlane.managed') as never

/**
 * One call of got, with all its attempts and redirects: each waits for a pass in a hook, and gives it back when
 * its exchange is over. What belongs to a call is kept here, for everybody can read got's options.
 */
export class Call {
  readonly #tokens: TokenManager
  /** got sends a form as a stream, and makes a new one for each attempt. */
  readonly #hasForm: boolean
  /** Ends the wait for a pass; there only while something waits, since aborting is dear. */
  #wait: AbortController | undefined
  #over = false
  #attempt: number | undefined
  /** Those of the attempt. */
  #hooks: Options['hooks'] | undefined
  #api: Api | undefined
  /** The URL that was found to be the API's. */
  #href: string | undefined
  /** Whether a redirect has led out of the API: nothing after it gets a token. */
  #outside = false
  #pass: Pass | undefined
  #closeMayGoOn: (() => void) | undefined
  #verdict: 'final' | 'again' | undefined
  /** What is sent, for as long as it holds the token. */
  #fields: SentFields | undefined

  constructor(tokens: TokenManager, { hooks, body }: Options) {
    this.#tokens = tokens
    this.#hasForm = body instanceof FormData
    // last, so that it sees what the caller's hooks make of the request
    hooks.beforeRequest = [...this.#others(hooks.beforeRequest), this.#marked(this.#beforeRequest)]
    if (!hooks.beforeError.includes(ownError)) hooks.beforeError.push(ownError)
  }

  /** A native request was made, with the token or without. */
  sent(request: NodeJS.EventEmitter): void {
    const pass = this.#pass
    if (pass === undefined || this.#fields === undefined) return
    pass.sent()
    this.#forgetFields()
    hideToken(request)
    request.once('response', ({ statusCode, headers }: PlainResponse) => {
      forgetToken(request)
      this.#verdict = pass.report({
        status: statusCode,
        retryAfter: headers['retry-after'],
        wwwAuthenticate: headers['www-authenticate'],
        header: (name) => {
          const value = headers[name]
          return Array.isArray(value) ? value.join(', ') : value
        },
      })
      if (this.#verdict === 'again') this.#addAfterResponse()
    })
    request.once('close', () => {
      forgetToken(request)
      pass.release()
    })
  }

  /** There will be no more attempts. */
  end(): void {
    this.#over = true
    this.#wait?.abort()
    this.#pass?.release()
    this.#forgetFields()
    this.#closeMayGoOn?.()
  }

  /** Outside of the clock of `timeout.request`, unlike got's `request` function. */
  readonly #beforeRequest: BeforeRequestHook = async (options, { retryCount }) => {
    const before = this.#verdict === 'again' ? this.#pass : undefined
    const apiBefore = this.#api
    this.#verdict = undefined
    this.#forgetFields()
    // what comes without a new attempt is a redirect
    const redirected = retryCount === this.#attempt
    this.#attempt = retryCount
    this.#hooks = options.hooks
    this.#api = this.#route(options, redirected)
    // a hook of the caller's may have changed the URL
    const goesOn = before !== undefined && this.#api === apiBefore
    if (!goesOn) this.#pass?.release()
    if (this.#api === undefined) return

    const { context, isStream, body, method } = options
    mustBeSecure(options)
    const { priority, resend } = checkCallOptions(context['tokenlane'])
    if (!this.#over) this.#closeMayGoOn ??= this.#api.keepOpen()
    const wait = new AbortController()
    this.#wait = wait
    // the stream that `createRetryStream` makes goes on after the end
    const signal = this.#over ? options.signal : wait.signal
    try {
      this.#pass = goesOn
        ? await before.next({ signal })
        : await this.#api.admit({
            client: 'got',
            method,
            signal,
            priority,
            resend,
            replayable: !isStream && (this.#hasForm || isReplayable(body)),
            underway: redirected,
          })
    } finally {
      this.#wait = undefined
    }
    if (this.#over) this.#pass.release()
    this.#addToken(options)
  }

  readonly #afterResponse: AfterResponseHook = (response, retry) => {
    if (this.#verdict !== 'again') return response
    // beyond the limit and the delay, which are for the caller's own retries
    const { limit = 0, calculateDelay } = response.request.options.retry
    return retry({
      preserveHooks: true,
      retry: {
        limit: limit + 1,
        calculateDelay: (failed) =>
          this.#verdict === 'again' ? 1 : (calculateDelay?.(failed) ?? failed.computedValue),
      },
    })
  }

  /** Only before it is of use, since got does a lot around each of these hooks. */
  #addAfterResponse(): void {
    const hooks = this.#hooks as Options['hooks']
    hooks.afterResponse = [this.#marked(this.#afterResponse), ...this.#others(hooks.afterResponse)]
  }

  /** The API whose token goes along. */
  #route({ url, headers }: NormalizedOptions, redirected: boolean): Api | undefined {
    const isOwn = headers['authorization'] !== undefined
    this.#href = url?.href
    const api = isOwn || url === undefined ? undefined : this.#tokens.route(url)
    if (redirected && api !== this.#api) this.#outside = true
    return this.#outside ? undefined : api
  }

  /** Once, in what got hands to Node: its own options stay without a token. */
  #addToken(options: NormalizedOptions): void {
    const given = options.request
    options.request = (url, native, callback) => {
      options.request = given
      // with a `cache`, got has its options in the place of the URL
      const { headers: fields } = (typeof native === 'function' ? url : native) as { headers: SentFields }
      const isElsewhere = url.href !== this.#href && this.#tokens.route(url.href) !== this.#api
      if (!isElsewhere && fields['authorization'] === undefined) {
        fields['authorization'] = this.#pass?.authorization
        this.#fields = fields
      }
      return given?.(url, native, callback)
    }
  }

  #forgetFields(): void {
    if (this.#fields !== undefined) redact(this.#fields)
    this.#fields = undefined
  }

  #marked<T extends object>(hook: T): T {
    return Object.defineProperty(hook, managedBy, { value: this.#tokens })
  }

  /** Another handler may have been here for the same manager, or another call whose options are used again. */
  #others<T extends object>(hooks: readonly T[]): T[] {
    return hooks.filter((hook) => (hook as { [managedBy]?: unknown })[managedBy] !== this.#tokens)
  }
}

/** Throws for a call that would go below TLS 1.2. An agent's own options count before those of the call. */
function mustBeSecure({ url, https, agent }: NormalizedOptions): void {
  if (url?.protocol !== 'https:') return
  agentMustKeepFloor(url.href, agent.https, 'agent.https')
  settingsMustKeepFloor(https, 'https')
}
