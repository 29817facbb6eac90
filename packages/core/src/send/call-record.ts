import { isTokenlaneError } from '../errors.ts'
import { type CallWaits, defined, type Emit, type ResendReason } from '../events.ts'
import type { ApiQueue } from '../queue/api-queue.ts'
import { causes, noWaits } from '../queue/waiting-time.ts'
import type { AccessToken } from '../access-token.ts'
import { Tracing } from '../tracing.ts'
import type { AdmitOptions } from './api.ts'
import type { Refusing } from './rejections.ts'

export const tracing: Tracing<CallRecord> = new Tracing('tokenlane:call')

/** Of foreign errors only identifier-like names and codes are reported, never messages. */
const word = /^[A-Za-z][\w-]{0,63}$/

/** As in `route.missed`. */
const longestPath = 200

/** What observers learn of one call: on the channel `tokenlane:call` meanwhile, in the event `call.finished` at its end. */
export class CallRecord {
  /** The `TokenManager`, so that a subscriber can tell several apart. */
  readonly manager: object
  /** The `baseUrl` of the API. */
  readonly api: string
  readonly issuer: string
  readonly client: string | undefined
  /** In capitals. */
  readonly method: string | undefined
  /** Without its query, and cut. */
  readonly path: string | undefined
  /** What the caller got, or why it got nothing. */
  declare status?: number
  declare code?: string
  /** A TokenlaneError as it is, a client's error by name and code alone: its other properties may hold the request. */
  declare error?: Error
  sends = 0
  /** Milliseconds that the token still had when the last attempt was sent. */
  declare remainingLifetime?: number
  readonly resends: ResendReason[] = []
  readonly waited: Record<keyof CallWaits, number> = { ...noWaits }
  /** Milliseconds. */
  duration = 0
  readonly #emit: Emit
  readonly #startedAt = performance.now()
  #isFinished = false

  constructor(
    { baseUrl, issuer, emit }: Pick<Refusing, 'baseUrl' | 'issuer' | 'emit'>,
    { client, method, url }: Pick<AdmitOptions, 'client' | 'method' | 'url'>,
  ) {
    this.manager = emit.manager
    this.api = baseUrl
    this.issuer = issuer
    this.client = client
    this.method = method?.toUpperCase()
    this.path = URL.parse(String(typeof url === 'function' ? url() : url))?.pathname.slice(0, longestPath)
    this.#emit = emit
  }

  sent(token: AccessToken): void {
    this.sends += 1
    this.remainingLifetime = token.expiresAt.getTime() - Date.now()
  }

  /** Measures for what the call waits, until the function that is returned is called; without a queue, for its token. */
  measure(queue?: Pick<ApiQueue, 'waitingTime'>): () => void {
    const start = performance.now()
    const ofQueue = queue?.waitingTime.start()
    return () => {
      const waits = ofQueue?.() ?? { ...noWaits, token: performance.now() - start }
      for (const cause of causes) this.waited[cause] += waits[cause]
    }
  }

  finish(error?: unknown): void {
    if (this.#isFinished) return
    this.#isFinished = true
    // no token or no place in the queue: the last resend never came
    this.resends.splice(Math.max(0, this.sends - 1))
    this.duration = performance.now() - this.#startedAt
    if (error !== undefined) this.#fail(error)
    tracing.finish(this)
    if (!this.#emit.isObserved) return
    const { manager: _, error: __, ...call }: CallRecord = this
    this.#emit({ type: 'call.finished', ...defined(call) })
  }

  #fail(error: unknown): void {
    const { code, cause, name } = Object(error) as Record<string, { code?: unknown } | undefined>
    delete this.status
    this.code = firstWord(code, cause?.code, name)
    const printed = new Error(`The client failed with ${this.code}`)
    this.error = isTokenlaneError(error)
      ? error
      : Object.assign(printed, { name: firstWord(name), code: this.code })
  }
}

function firstWord(...texts: readonly unknown[]): string {
  return texts.find((text): text is string => typeof text === 'string' && word.test(text)) ?? 'Error'
}
