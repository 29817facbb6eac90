import {
  asErrorOf,
  checkCallOptions,
  isReplayable,
  isReplayableRequest,
  mustKeepFloor,
  OutgoingRequest,
  refuseArgument,
  sendWithinApi,
  urlOf,
  watchBody,
  withCause,
  type Api,
  type Pass,
  type SendOptions,
  type TokenManager,
  type WaitingBody,
} from '@tokenlane/core/adapter'
import type { Options } from 'ky'

import type { Held, HeldPasses } from './held-passes.ts'
import { endTimeout, timeoutOf } from './timeout.ts'

export interface Attachment {
  readonly route: TokenManager['route']
  readonly passes: HeldPasses
}

/** One call of ky: it waits in ky's hooks, where no `timeout` runs for its turn, and sends in ky's `fetch`. */
export class Call {
  readonly #options: Options
  readonly #attached: Attachment
  readonly #fetch: Options['fetch']
  #held: Held | undefined
  /** How the waiting request is to be treated. */
  #asked: SendOptions | undefined
  /** What ky made the body of the waiting request of, where no hook has made another request. */
  #source: { readonly of: Request; readonly body: unknown } | undefined
  #death: WaitingBody['death']
  /** Why there is no token, where the wait for one took as long as the call's `timeout`. */
  #noToken: unknown

  constructor(options: Options, attached: Attachment) {
    this.#options = options
    this.#attached = attached
    this.#fetch = options.fetch
  }

  /**
   * Returns the request once it may be sent.
   *
   * @param body what ky made its body of, where that is known.
   * @param isFirst whether the body of the call has not been sent before.
   */
  wait(request: Request, body?: unknown, isFirst = false): Request | Promise<Request> {
    this.#source = body === undefined ? undefined : { of: request, body }
    this.#timeOut(undefined)
    const api = this.#apiOf(request)
    // after a timeout, ky makes the signal of the next attempt just before it sends: then `send` waits
    if (api === undefined || request.signal.aborted) return request
    mustKeepFloor(api.baseUrl)
    this.#asked = this.#asks(request)
    const waiting = watchBody(isFirst ? this.#options.body : undefined, request.signal)
    const hold = (pass: Pass): Request => {
      waiting.release()
      return this.#hold({ request, api, pass })
    }
    const ms = timeoutOf(this.#options)
    const tokenWait = ms === undefined ? undefined : { ms, error: (cause: unknown) => this.#timeOut(cause) }
    const admitted = api.admit({ ...this.#asked, signal: waiting.signal, tokenWait })
    if (!(admitted instanceof Promise)) return hold(admitted)
    return admitted.then(hold, (reason: unknown) => {
      waiting.abandon()
      this.#death = waiting.death
      if (waiting.death === undefined && this.#noToken === undefined) {
        // ky cancels the body, and Node rejects unhandled where a form is canceled that it still reads
        if (this.#options.body instanceof FormData) request.body?.getReader()
        throw asErrorOf(reason, { request, options: this.#options })
      }
      // ky makes its own errors where its `fetch` fails, or takes too long
      return request
    })
  }

  explain(error: Error): Error {
    return this.#noToken !== undefined && error.name === 'TimeoutError'
      ? withCause(error, this.#noToken)
      : error
  }

  #timeOut(cause: unknown): unknown {
    endTimeout(this.#options, cause !== undefined)
    return (this.#noToken = cause)
  }

  #hold(held: Held): Request {
    this.#held = held
    this.#attached.passes.hold(held)
    return held.request
  }

  send(request: Request, init: RequestInit = {}): Promise<Response> {
    try {
      // not in an async function: a promise more, and two turns of promises until it is settled
      return this.#send(request, init)
    } catch (reason) {
      return Promise.reject(asErrorOf(reason, { request, options: this.#options }))
    }
  }

  #send(request: Request, init: RequestInit): Promise<Response> {
    if (this.#noToken !== undefined) return untilAborted(request.signal)
    const fetch = this.#fetch ?? globalThis.fetch
    const api = this.#apiOf(request)
    if (api === undefined) {
      this.#take()?.pass.release()
      return this.#sendBare(request, fetch(request, init))
    }
    mustKeepFloor(api.baseUrl)
    if (this.#death !== undefined) throw new TypeError('fetch failed', { cause: this.#death.error })
    const { tokenlane: _, ...rest } = init as RequestInit & { tokenlane?: unknown }
    const source = this.#source?.of === request ? this.#source.body : undefined
    const asked = this.#asked ?? this.#asks(request)
    const call = new OutgoingRequest(request, { ...asked, source, pass: this.#passFor(api) })
    return sendWithinApi(call, {
      api,
      route: this.#attached.route,
      fetch: this.#fetch === undefined ? withInit(globalThis.fetch, rest) : asRequests(this.#fetch, rest),
    })
  }

  async #sendBare(request: Request, call: Promise<Response>): Promise<Response> {
    const own = hasOwnAuthorization(request) ? this.#attached.route(urlOf(request)) : undefined
    const response = await call
    own?.kept(response.status)
    return response
  }

  #passFor(api: Api): Pass | undefined {
    const held = this.#take()
    if (held?.api === api) return held.pass
    held?.pass.release()
    return undefined
  }

  #take(): Held | undefined {
    const held = this.#held
    this.#held = undefined
    return held && this.#attached.passes.take(held) ? held : undefined
  }

  #apiOf(request: Request): Api | undefined {
    // a hook may have set one meanwhile
    if (hasOwnAuthorization(request)) return undefined
    // the request that waited has the same URL still
    return this.#held?.request === request ? this.#held.api : this.#attached.route(urlOf(request))
  }

  #asks(request: Request): SendOptions {
    const { signal, method, url } = request
    const { tokenlane, context, body, json } = this.#options
    if (context?.['tokenlane'] !== undefined)
      refuseArgument('send call', 'context.tokenlane', '`tokenlane` in ky')
    const { priority, resend, cost } = checkCallOptions(tokenlane)
    const replayable =
      body === undefined && json === undefined ? isReplayableRequest(request) : isReplayable(body)
    return { client: 'ky', method, url, signal, priority, resend, cost, replayable }
  }
}

function hasOwnAuthorization({ headers }: Request): boolean {
  // an empty one, as generated clients set it, is none
  return Boolean(headers.get('authorization'))
}

/** Rejects when ky's timer or the caller ends the attempt. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

type Fetch = NonNullable<Options['fetch']>

/** Returns a `fetch` with what ky hands to `fetch` beside the request. */
function withInit(fetch: typeof globalThis.fetch, rest: RequestInit): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...rest, ...init })
}

/** Returns a `fetch` for one of the caller's, which may look at nothing but the request that ky gives it. */
function asRequests(fetch: Fetch, rest: RequestInit): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    try {
      return await fetch(request, rest)
    } catch (reason) {
      // so that ky's own request, whose body went into this one, is let go of
      if (!request.bodyUsed) request.body?.cancel(reason).catch(() => {})
      throw reason
    }
  }
}
