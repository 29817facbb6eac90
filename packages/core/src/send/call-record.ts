import { isTokenlaneError } from '../errors.ts'
import { type CallWaits, defined, type Emit, type ResendReason } from '../events.ts'
import type { AccessToken } from '../token/access-token.ts'
import { Tracing } from '../tracing.ts'
import type { Api } from './api.ts'

type CalledApi = Pick<Api, 'baseUrl' | 'issuer'>

const tracing = new Tracing<CallRecord>('tokenlane:call')

/** Of foreign errors only identifier-like names and codes are reported, never messages. */
const word = /^[A-Za-z][\w-]{0,63}$/

/**
 * What observers learn of one call: the message on the tracing channel `tokenlane:call` while it goes on, and the event
 * `call.finished` at its end. Made only if there is an observer or a subscriber.
 */
export class CallRecord {
  /** The `TokenManager`, so that a subscriber can tell several apart. */
  readonly manager: object | undefined
  /** The `baseUrl` of the API. */
  readonly api: string
  /** The issuer of the API's tokens. */
  readonly issuer: string
  readonly client: string | undefined
  /** What the caller got, or why it got nothing. */
  declare status?: number
  declare code?: string
  /** A TokenlaneError as it is, a client's error by name and code alone: its other properties may hold the request. */
  declare error?: Error
  sends = 0
  /** Milliseconds that the token still had when the last attempt was sent. */
  declare remainingLifetime?: number
  readonly resends: ResendReason[] = []
  readonly waited: { -readonly [Cause in keyof CallWaits]: number } = {
    token: 0,
    slot: 0,
    limit: 0,
    pause: 0,
  }
  /** Milliseconds. */
  duration = 0
  readonly #emit: Emit
  readonly #startedAt = performance.now()
  #isFinished = false

  private constructor(api: CalledApi, client: string | undefined, emit: Emit) {
    this.manager = emit?.manager
    this.api = api.baseUrl
    this.issuer = api.issuer
    this.client = client
    this.#emit = emit
  }

  /** Returns a record for a call that begins, `undefined` without an observer or a subscriber. */
  static of(api: CalledApi, client: string | undefined, emit: Emit): CallRecord | undefined {
    return emit?.isObserved === true || tracing.isObserved ? new CallRecord(api, client, emit) : undefined
  }

  /** Runs the synchronous part of the call. */
  begin<T>(work: () => T): T {
    return tracing.begin(this, work)
  }

  /** Notes that an attempt goes out with this token. */
  sent(token: AccessToken): void {
    this.sends += 1
    this.remainingLifetime = token.expiresAt.getTime() - Date.now()
  }

  /** Notes how long the call waits for its token. */
  async timeToken<T>(waiting: Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await waiting
    } finally {
      this.addWaits({ token: performance.now() - start })
    }
  }

  addWaits({ token = 0, slot = 0, limit = 0, pause = 0 }: Partial<CallWaits>): void {
    this.waited.token += token
    this.waited.slot += slot
    this.waited.limit += limit
    this.waited.pause += pause
  }

  /** Notes that the call is over; with an `error`, that it failed. */
  finish(error?: unknown): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.duration = performance.now() - this.#startedAt
    if (error !== undefined) {
      delete this.status
      this.error = printable(error)
      this.code = codeOf(error)
    }
    tracing.finish(this)
    if (this.#emit?.isObserved !== true) return
    const { api, issuer, client, status, code, sends, remainingLifetime, resends, waited, duration } = this
    const call = { api, issuer, client, status, code, sends, remainingLifetime, resends, waited, duration }
    this.#emit({ type: 'call.finished', ...defined(call) })
  }
}

function printable(error: unknown): Error {
  if (isTokenlaneError(error)) return error
  const code = codeOf(error)
  return Object.assign(new Error(`The client failed with ${code}`), { name: nameOf(error) ?? 'Error', code })
}

/** The first of an error's code, its cause's code and its name. */
function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null }
  return asWord(code) ?? asWord(cause?.code) ?? nameOf(error) ?? 'Error'
}

function nameOf(error: unknown): string | undefined {
  return asWord((error as { name?: unknown } | null)?.name)
}

function asWord(value: unknown): string | undefined {
  return typeof value === 'string' && word.test(value) ? value : undefined
}
