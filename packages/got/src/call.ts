import {
  checkCallOptions,
  forgetToken,
  hideToken,
  isReplayable,
  managerOf,
  markHook,
  type AdmitOptions,
  type Api,
  type Pass,
  type SentHeaders,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { AfterResponseHook, BeforeRequestHook, NormalizedOptions, Options, PlainResponse } from 'got'

import { formOf, type ResendableForm } from './form.ts'
import { type Hop, hopTo, redact } from './hop.ts'
import { ownError } from './own-error.ts'
import { mustBeSecure } from './tls.ts'

/** The event of an error for listeners that only look on: got still has to handle it. */
const { errorMonitor } = process.getBuiltinModule('node:events')

/**
 * Where a call stands. got runs `beforeRequest` before each attempt and before each redirect.
 *
 * | state   | it has                       | what leads out of it                                                       |
 * | ------- | ---------------------------- | -------------------------------------------------------------------------- |
 * | idle    | no pass                      | `beforeRequest` with a URL of an API: ready, or waiting where it has to    |
 * | waiting | a wait that can be ended     | the pass comes: ready. The wait fails: idle                                |
 * | ready   | a pass                       | got hands headers to Node: handed                                          |
 * | handed  | a pass, headers with a token | Node makes the request, which has a copy of the headers: sent              |
 * | sent    | a pass                       | a response that asks for one more attempt: again                           |
 * | again   | a pass for one more attempt  | `beforeRequest` with a URL of the same API: waiting for the next pass      |
 * | over    | no pass                      | nothing                                                                    |
 *
 * Any other `beforeRequest` leads to idle first, and the end of the call to over. Both give back what the state has.
 */
type State =
  | { readonly name: 'idle' | 'over' }
  | { readonly name: 'waiting'; readonly end: AbortController | undefined }
  | { readonly name: 'ready' | 'sent' | 'again'; readonly pass: Pass }
  | { readonly name: 'handed'; readonly pass: Pass; readonly headers: SentHeaders; readonly hooks: Hooks }

type Hooks = Options['hooks']

/**
 * One call of got, with all its attempts and redirects: each waits for a pass in a hook, and gives it back when
 * its exchange is over. What belongs to a call is kept here, since anyone can read got's options.
 */
export class Call {
  readonly #tokens: TokenManager
  readonly #form: ResendableForm | undefined
  #state: State = { name: 'idle' }
  #hop: Hop | undefined
  /** The native request of the last attempt. */
  #request: NodeJS.EventEmitter | undefined
  /** Lets the manager close, which waits while redirects of the call may follow. */
  #letClose: (() => void) | undefined

  constructor(tokens: TokenManager, options: Options) {
    const { hooks } = options
    this.#tokens = tokens
    this.#form = formOf(options)
    // last, so that it sees what the caller's hooks make of the request
    hooks.beforeRequest = [...this.#others(hooks.beforeRequest), markHook(this.#beforeRequest, tokens)]
    // not with `push`, which makes room for 17
    if (!hooks.beforeError.includes(ownError)) hooks.beforeError = [...hooks.beforeError, ownError]
  }

  /** Notes that a native request was made, with the token or without. */
  sent(request: NodeJS.EventEmitter): void {
    if (this.#state.name !== 'handed') return
    const { pass, headers, hooks } = this.#state
    this.#request = request
    const sent = { name: 'sent', pass } as const
    this.#state = sent
    redact(headers)
    hideToken(request)
    pass.sent()

    let failure: unknown = givenUp
    const forget = (): void => forgetToken(request)
    // not `once`, which wraps each listener: these events come once, or may come again
    request.on('finish', forget)
    request.on(errorMonitor, (error: unknown) => (failure = error))
    request.on('response', (response: PlainResponse) => {
      forget()
      failure = undefined
      const isAgain = report(pass, response) === 'again'
      if (!isAgain || this.#state !== sent) return
      this.#state = { name: 'again', pass }
      this.#addAfterResponse(hooks)
    })
    request.on('close', () => {
      forget()
      // the next attempt takes the place of this one
      if (this.#state.name !== 'again' || this.#state.pass !== pass) pass.release(failure)
    })
  }

  /** Notes that the call is over, but for the stream that `createRetryStream` makes. */
  end(failure?: unknown): void {
    // an error leads to it, and is with the caller before the request has closed
    if (failure !== undefined) forgetToken(this.#request)
    this.#leave(failure)
    this.#state = { name: 'over' }
    this.#letClose?.()
  }

  /** Gives back what the state holds. */
  #leave(failure?: unknown): void {
    const state = this.#state
    if (state.name === 'waiting') state.end?.abort()
    if (state.name === 'handed') redact(state.headers)
    if ('pass' in state) state.pass.release(failure)
    if (state.name !== 'over') this.#state = { name: 'idle' }
  }

  /** Waits outside of the clock of `timeout.request`, unlike got's `request` function. */
  readonly #beforeRequest = (
    options: NormalizedOptions,
    { retryCount }: Parameters<BeforeRequestHook>[1],
  ): void | Promise<void> => {
    const before = this.#hop
    const hop = hopTo(this.#tokens, options, retryCount, before)
    this.#hop = hop
    const { api } = hop
    // a hook of the caller's may have changed the URL
    const last = this.#state.name === 'again' && api === before?.api ? this.#state.pass : undefined
    if (last === undefined) this.#leave()
    if (api === undefined) return

    mustBeSecure(options)
    // the stream that `createRetryStream` makes goes on after the end, and holds nothing
    if (this.#state.name === 'over') return this.#goOn(options, hop, api)
    this.#letClose ??= api.keepOpen()
    let end: AbortController | undefined
    const waitSignal = (): AbortSignal => (end ??= new AbortController()).signal
    const admitted =
      last === undefined
        ? api.admitNow(this.#asked(options, hop, waitSignal))
        : last.next({ signal: waitSignal() })
    if (admitted instanceof Promise) return this.#wait(options, hop, { name: 'waiting', end }, admitted)
    this.#state = { name: 'ready', pass: admitted }
    this.#addToken(options, hop, admitted)
  }

  #asked(
    { context, isStream, body, method }: NormalizedOptions,
    { isRedirect: sentBefore }: Hop,
    waitSignal?: () => AbortSignal,
  ): AdmitOptions {
    const { priority, resend } = checkCallOptions(context['tokenlane'])
    const replayable = !isStream && (this.#form?.isIn(body) === true || isReplayable(body))
    return { client: 'got', method, priority, resend, replayable, sentBefore, waitSignal }
  }

  async #wait(
    options: NormalizedOptions,
    hop: Hop,
    waiting: Extract<State, { readonly name: 'waiting' }>,
    admitted: Promise<Pass>,
  ): Promise<void> {
    this.#state = waiting
    try {
      const pass = await admitted
      if (this.#state === waiting) this.#state = { name: 'ready', pass }
      else pass.release()
      this.#addToken(options, hop, pass)
    } finally {
      if (this.#state === waiting) this.#state = { name: 'idle' }
    }
  }

  async #goOn(options: NormalizedOptions, hop: Hop, api: Api): Promise<void> {
    const pass = await api.admit({ ...this.#asked(options, hop), signal: options.signal })
    pass.release()
    this.#addToken(options, hop, pass)
  }

  /** Adds the token once, to what got hands to Node: its own options stay without. */
  #addToken(options: NormalizedOptions, { href, api }: Hop, pass: Pass): void {
    const given = options.request
    options.request = (url, native, callback) => {
      options.request = given
      // with a `cache`, got has its options in the place of the URL
      const { headers } = (typeof native === 'function' ? url : native) as { headers: SentHeaders }
      const isElsewhere = url.href !== href && this.#tokens.route(url.href) !== api
      if (!isElsewhere && headers['authorization'] === undefined) {
        headers['authorization'] = pass.authorization
        if (this.#state.name === 'ready')
          this.#state = { name: 'handed', pass, headers, hooks: options.hooks }
      }
      return given?.(url, native, callback)
    }
  }

  #afterResponse(...[response, retry]: Parameters<AfterResponseHook>): ReturnType<AfterResponseHook> {
    if (this.#state.name !== 'again') return response
    // beyond the limit and the delay, which are for the caller's own retries
    const { retry: ofCaller, body } = response.request.options
    const { limit = 0, calculateDelay } = ofCaller
    return retry({
      preserveHooks: true,
      ...(this.#form?.isIn(body) === true && this.#form.again()),
      retry: {
        limit: limit + 1,
        calculateDelay: (failed) =>
          this.#state.name === 'again' ? 1 : (calculateDelay?.(failed) ?? failed.computedValue),
      },
    })
  }

  /** Adds the hook only where it is needed, since got does expensive work around every one. */
  #addAfterResponse(hooks: Hooks): void {
    const again: AfterResponseHook = (response, retry) => this.#afterResponse(response, retry)
    hooks.afterResponse = [markHook(again, this.#tokens), ...this.#others(hooks.afterResponse)]
  }

  /** Leaves out the hooks of another call of this manager: its handler may run twice, and options be used again. */
  #others<T extends object>(hooks: readonly T[]): T[] {
    return hooks.filter((hook) => managerOf(hook) !== this.#tokens)
  }
}

/** The failure of a request that got gives up without an error. */
const givenUp = { name: 'AbortError' }

function report(pass: Pass, { statusCode, headers }: PlainResponse): 'final' | 'again' {
  return pass.report({
    status: statusCode,
    retryAfter: headers['retry-after'],
    wwwAuthenticate: headers['www-authenticate'],
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
  })
}
