import {
  checkCallOptions,
  isClosed,
  isReplayable,
  hideRequest,
  isTokenlaneError,
  judgeResponses,
  managerOf,
  markManaged,
  watchBody,
  type AdmitOptions,
  type Api,
  type JudgedRequest,
  type Pass,
  type TokenManager,
  type WaitingBody,
} from '@tokenlane/core/adapter'
import type { AfterResponseHook, BeforeRequestHook, NormalizedOptions, Options, PlainResponse } from 'got'

import { formOf, type ResendableForm } from './form.ts'
import { hasOwnToken, type Hop, hopTo, type NativeHeaders, redact } from './hop.ts'
import { ownError, TokenTimeout } from './own-error.ts'
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
 * | sent    | a pass                       | a response that asks for one more attempt: again. A redirect: moved        |
 * | again   | a pass for one more attempt  | `beforeRequest` with a URL of the same API: waiting for the next pass      |
 * | moved   | a pass, until the next hop   | `beforeRequest` of a redirect within the API: waiting for the pass of that |
 * | over    | no pass                      | nothing                                                                    |
 *
 * Any other `beforeRequest` leads to idle first, and the end of the call to over. Both give back what the state has.
 */
type State =
  | { readonly name: 'idle' | 'over' }
  | { readonly name: 'waiting' }
  | { readonly name: 'ready' | 'sent' | 'moved'; readonly pass: Pass }
  | { readonly name: 'again'; readonly pass: Pass; readonly refused: () => Promise<object> }
  | { readonly name: 'handed'; readonly pass: Pass; readonly headers: NativeHeaders; readonly hooks: Hooks }

type Hooks = Options['hooks']

/**
 * One call of got, with all its attempts and redirects: each waits for a pass in a hook, and gives it back when
 * its exchange is over. What belongs to a call is kept here, since anyone can read got's options.
 */
export class Call {
  readonly #tokens: TokenManager
  readonly #isStream: boolean
  readonly #form: ResendableForm | undefined
  #state: State = { name: 'idle' }
  #hop: Hop | undefined
  /** Ends the wait for a pass, and for those that follow it. */
  #wait: AbortController | undefined
  #body: WaitingBody | undefined

  /** Where the call was made: got runs its hooks later, where no stack leads to the caller. */
  readonly #madeAt: { readonly stack?: string } = {}

  constructor(tokens: TokenManager, options: Options) {
    const { hooks, url } = options
    // this takes up to 30 µs, and only calls that wait can fail for want of a token or a place
    if (url !== undefined && tokens.route(url)?.mustWait() === true) Error.captureStackTrace(this.#madeAt)
    this.#isStream = options.isStream
    this.#tokens = tokens
    this.#form = formOf(options)
    // last, so that it sees what the caller's hooks make of the request
    hooks.beforeRequest = [...this.#others(hooks.beforeRequest), markManaged(this.#beforeRequest, tokens)]
    // not with `push`, which makes room for 17
    if (!hooks.beforeError.includes(ownError)) hooks.beforeError = [...hooks.beforeError, ownError]
  }

  /** Called for each native request, with the token or without. */
  sent(request: NodeJS.EventEmitter): void {
    const kept = this.#hop?.kept
    if (kept !== undefined) request.once('response', ({ statusCode }: PlainResponse) => kept.kept(statusCode))
    if (this.#state.name !== 'handed') return
    const { pass, headers, hooks } = this.#state
    const sent = { name: 'sent', pass } as const
    this.#state = sent
    redact(headers)
    hideRequest(request)
    pass.sent()

    let failure: unknown = givenUp
    request.on(errorMonitor, (error: unknown) => (failure = error))
    let isAgain = false
    const judged = judgeResponses(request, (response) => {
      isAgain = pass.report(response) === 'again'
      return isAgain && this.#state === sent
    })
    request.on('response', (response: PlainResponse) => {
      failure = undefined
      if (this.#state !== sent) return
      if (isAgain) this.#addAfterResponse(hooks, judged)
      if (isAgain) this.#state = { name: 'again', pass, refused: () => judged.refused() }
      else if (isRedirect(response)) this.#state = { name: 'moved', pass }
      // it may be open for hours
      else if (this.#isStream) pass.release()
    })
    request.on('close', () => {
      // the next attempt or hop takes the place of this one
      if (!this.#goesOn(pass)) pass.release(failure)
    })
  }

  /** Ends the call, except for the stream that `createRetryStream` makes. */
  end(failure?: unknown): void {
    this.#leave(failure)
    this.#state = { name: 'over' }
  }

  #goesOn(pass: Pass): boolean {
    const state = this.#state
    return (state.name === 'again' || state.name === 'moved') && state.pass === pass
  }

  #leave(failure?: unknown): void {
    const state = this.#state
    if (state.name === 'waiting') this.#wait?.abort()
    if (state.name === 'handed') redact(state.headers)
    if ('pass' in state) state.pass.release(failure)
    if (state.name !== 'over') this.#state = { name: 'idle' }
  }

  /** Waits outside of the clock of `timeout.request`, unlike got's `request` function: a turn may take longer. */
  readonly #beforeRequest = (
    options: NormalizedOptions,
    { retryCount }: Parameters<BeforeRequestHook>[1],
  ): ReturnType<BeforeRequestHook> => {
    const before = this.#hop
    const hop = hopTo(this.#tokens, options, retryCount, before)
    this.#hop = hop
    const { api } = hop
    const state = this.#state
    const isMoved = state.name === 'moved' && hop.isRedirect
    // until the end of the redirects, so that the manager does not close before
    if (isMoved && api === undefined) return
    // a hook of the caller's may have changed the URL
    const last = isMoved || (state.name === 'again' && api === before?.api) ? state : undefined
    if (last === undefined) this.#leave()
    if (api === undefined) return

    mustBeSecure(options)
    // the stream that `createRetryStream` makes goes on after the end, and holds nothing
    if (state.name === 'over') return this.#goOn(options, hop, api)
    const admitted = last?.name === 'again' ? last.pass.next() : this.#admit(api, options, last?.pass)
    if (admitted instanceof Promise)
      return this.#waitFor(admitted, options, hop).catch((error: unknown) => {
        if (last?.name !== 'again' || !isClosed(error)) throw error
        // got's own retries would end with this error
        options.retry = { ...options.retry, limit: 0, calculateDelay: () => 0 }
        return last.refused() as ReturnType<BeforeRequestHook>
      })
    this.#body?.release()
    this.#state = { name: 'ready', pass: admitted }
    this.#addToken(options, hop, admitted)
  }

  /** @param moved the pass of a request that is redirected within the API. */
  #admit(api: Api, options: NormalizedOptions, moved: Pass | undefined): Pass | Promise<Pass> {
    this.#wait = new AbortController()
    this.#body = watchBody(options.body, this.#wait.signal)
    const asked = this.#asked(options, this.#body.signal)
    return moved === undefined ? api.admit(asked) : moved.follow(asked)
  }

  #asked(options: NormalizedOptions, signal?: AbortSignal): AdmitOptions {
    const { context, isStream, body, method, url, timeout } = options
    const { priority, resend, cost } = checkCallOptions(context['tokenlane'])
    const replayable = !isStream && (this.#form?.isIn(body) === true || isReplayable(body))
    const ms = timeout.request
    const tokenWait =
      ms === undefined ? undefined : { ms, error: (cause: unknown) => new TokenTimeout(ms, cause) }
    return { client: 'got', method, url, priority, resend, cost, replayable, signal, tokenWait }
  }

  async #waitFor(admitted: Promise<Pass>, options: NormalizedOptions, hop: Hop): Promise<void> {
    const waiting: State = { name: 'waiting' }
    this.#state = waiting
    try {
      const pass = await admitted
      if (this.#state === waiting) this.#state = { name: 'ready', pass }
      else pass.release()
      this.#addToken(options, hop, pass)
    } catch (error) {
      this.#body?.release()
      // got cancels the body, and Node rejects unhandled where a form is canceled that it still reads
      if (this.#form?.isIn(options.body) === true) (options.body as unknown as ReadableStream).getReader()
      // got ends the call by itself where the body fails, but not where it is only destroyed
      if (this.#body?.death !== undefined) throw closed(this.#body.death)
      const { stack } = this.#madeAt
      if (isTokenlaneError(error) && stack !== undefined) error.stack = `${String(error)}\n${framesOf(stack)}`
      throw error
    } finally {
      this.#body?.release()
      if (this.#state === waiting) this.#state = { name: 'idle' }
    }
  }

  async #goOn(options: NormalizedOptions, hop: Hop, api: Api): Promise<void> {
    const pass = await api.admit(this.#asked(options, options.signal))
    pass.release()
    this.#addToken(options, hop, pass)
  }

  /** Adds the token once, to what got hands to Node: its own options stay without. */
  #addToken(options: NormalizedOptions, { href, api }: Hop, pass: Pass): void {
    const given = options.request
    options.request = (url, native, callback) => {
      options.request = given
      // with a `cache`, got has its options in the place of the URL
      const { headers } = (typeof native === 'function' ? url : native) as { headers: NativeHeaders }
      const isElsewhere = url.href !== href && this.#tokens.route(url.href) !== api
      if (!isElsewhere && !hasOwnToken(headers)) {
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
        calculateDelay: (failed) => {
          if (this.#state.name === 'again') return 1
          const attemptCount = failed.attemptCount - 1
          const retryOptions = { ...failed.retryOptions, limit, calculateDelay }
          const own = { ...failed, attemptCount, retryOptions }
          return calculateDelay?.(own as typeof failed) ?? failed.computedValue
        },
      },
    })
  }

  /** Adds the hook only where it is needed, since got does expensive work around every one. */
  #addAfterResponse(hooks: Hooks, judged: JudgedRequest): void {
    const again: AfterResponseHook = async (response, retry) => {
      await judged.discarded
      return this.#afterResponse(response, retry)
    }
    hooks.afterResponse = [markManaged(again, this.#tokens), ...this.#others(hooks.afterResponse)]
  }

  /** Leaves out the hooks of another call of this manager: its handler may run twice, and options be used again. */
  #others<T extends object>(hooks: readonly T[]): T[] {
    return hooks.filter((hook) => managerOf(hook) !== this.#tokens)
  }
}

function closed({ error }: { readonly error?: unknown }): Error {
  const code = 'ERR_STREAM_PREMATURE_CLOSE'
  return error instanceof Error ? error : Object.assign(new Error('The body has been closed'), { code })
}

function framesOf(stack: string): string {
  return stack.slice(stack.indexOf('\n') + 1)
}

/** The failure of a request that got gives up without an error. */
const givenUp = { name: 'AbortError' }

function isRedirect({ statusCode, headers }: PlainResponse): boolean {
  return statusCode >= 300 && statusCode < 400 && headers.location !== undefined
}
