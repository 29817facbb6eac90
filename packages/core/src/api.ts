import { AccessToken } from './access-token.ts'
import { backoff } from './backoff.ts'
import { refusesToken } from './challenge.ts'
import { TokenlaneError } from './errors.ts'
import type { Emit } from './events.ts'
import type { RenewingToken } from './renewing-token.ts'

/** What an adapter tells of the answer to one attempt, as it stands on the wire. */
export interface Report {
  /** HTTP status code. */
  readonly status: number
  /** The `Retry-After` field. */
  readonly retryAfter?: string | null | undefined
  /** The `WWW-Authenticate` field: tells a refused token from another reason for a 401. */
  readonly wwwAuthenticate?: string | null | undefined
}

/** One HTTP exchange, made by an adapter. */
export interface Exchange<T> extends Report {
  /** What the caller gets if this was the last attempt. */
  readonly result: T
  /**
   * Frees what an unwanted answer holds: drains a short body, cancels a long one. Called at most once; if it
   * fails, nobody minds.
   */
  discard(): unknown
}

/** How one call wants to be treated. */
export interface AdmitOptions {
  /** Ends the waiting. The request itself is the client's to abort. */
  readonly signal?: AbortSignal | null | undefined
  /** Whether the same request can be sent again; `false` for a body that can be read once. Default `true`. */
  readonly replayable?: boolean | undefined
  /** The pass of the attempt before, when that one's report was `again`. */
  readonly after?: Pass | undefined
}

/** How `send` treats a call. */
export type SendOptions = Omit<AdmitOptions, 'after'>

/** The right to send one attempt. */
export interface Pass {
  /** The `Authorization` field to send. Goes on the wire and nowhere else. */
  readonly authorization: string
  /** Tells what came back, once per attempt: `again` means that one more attempt, with a new pass, is due. */
  report(report: Report): 'final' | 'again'
  /** Gives back what the call holds. Safe to call again. */
  release(): void
}

/** A protected API: what adapters talk to. */
export interface Api {
  /** Origin and path prefix of the API, as the WHATWG URL parser writes it. */
  readonly baseUrl: string
  /** Name of the issuer whose tokens it takes. */
  readonly issuer: string
  /**
   * Sends a call with a live token, and once more with a new one if the answer is 401.
   *
   * `attempt` performs one HTTP exchange with the given `Authorization` field; what it throws is passed on.
   *
   * @throws TokenlaneError if no token can be had: then nothing was sent.
   */
  send<T>(attempt: (authorization: string) => Promise<Exchange<T>>, options?: SendOptions): Promise<T>
  /**
   * The same for clients that make the attempts themselves: waits until one attempt may go out.
   *
   * Whoever takes a pass releases it, whatever happens.
   *
   * @throws TokenlaneError if no token can be had; the signal's reason if it aborts.
   */
  admit(options?: AdmitOptions): Promise<Pass>
}

/** Renewals that an API's 401s force are spaced, from here to there. */
const firstRejection = 1_000
const longestRejection = 60_000

/** What all APIs of one manager share: whether it is open, and how many calls are under way. */
export interface Gate {
  readonly closed: boolean
  entered(): void
  left(): void
}

/** The send rule: make sure of a live token, send; on a 401 renew once and send once more. */
export class ProtectedApi implements Api {
  readonly baseUrl: string
  readonly issuer: string
  readonly #token: RenewingToken
  readonly #gate: Gate
  readonly #emit: Emit
  /** Tokens in a row that this API refused though they were current, and when the next may be renewed for it. */
  #rejections = 0
  #renewAgainAt = 0

  constructor(options: { baseUrl: string; issuer: string; token: RenewingToken; gate: Gate; emit: Emit }) {
    this.baseUrl = options.baseUrl
    this.issuer = options.issuer
    this.#token = options.token
    this.#gate = options.gate
    this.#emit = options.emit
  }

  async send<T>(
    attempt: (authorization: string) => Promise<Exchange<T>>,
    options: SendOptions = {},
  ): Promise<T> {
    let pass = this.#passNow(options) ?? (await this.admit(options))
    try {
      for (;;) {
        const exchange = await attempt(pass.authorization)
        if (pass.report(exchange) === 'final') return exchange.result
        await discard(exchange)
        pass = await this.admit({ ...options, after: pass })
      }
    } finally {
      pass.release()
    }
  }

  async admit(options: AdmitOptions = {}): Promise<Pass> {
    const pass = this.#passNow(options)
    if (pass !== undefined) return pass
    const { after } = options
    this.#gate.entered()
    try {
      const token = await this.#token.wait(options.signal ?? undefined)
      return this.#pass(token, options)
    } finally {
      this.#gate.left()
      after?.release()
    }
  }

  /** A pass without waiting, if there is a live token. */
  #passNow(options: AdmitOptions): Pass | undefined {
    options.signal?.throwIfAborted()
    // a call that is under way may end, even while the manager closes
    if (this.#gate.closed && options.after === undefined) throw closedError(this.baseUrl)
    const token = this.#token.live()
    return token && this.#pass(token, options)
  }

  #pass(token: AccessToken, { replayable = true, after }: AdmitOptions): Pass {
    this.#gate.entered()
    const pass = new AttemptPass(token, replayable && after === undefined, this, this.#gate)
    after?.release()
    return pass
  }

  /** @internal What an answer means for the token, and for the call. */
  judge(token: AccessToken, mayRepeat: boolean, report: Report): 'final' | 'again' {
    if (report.status !== 401) {
      // an error of the server tells nothing of the token
      if (report.status < 500) this.#rejections = 0
      return 'final'
    }
    if (!refusesToken(report.wwwAuthenticate)) return 'final'
    if (this.#token.isCurrent(token)) {
      // an API that refuses every token must not cost a token request per call
      if (this.#rejections > 0 && performance.now() < this.#renewAgainAt) return 'final'
      this.#rejections += 1
      this.#renewAgainAt = performance.now() + backoff(this.#rejections, firstRejection, longestRejection)
      this.#token.invalidate(token)
      this.#emit?.({ type: 'token.rejected', issuer: this.issuer, api: this.baseUrl })
    }
    return mayRepeat ? 'again' : 'final'
  }
}

class AttemptPass implements Pass {
  readonly #token: AccessToken
  readonly #mayRepeat: boolean
  readonly #api: ProtectedApi
  #gate: Gate | undefined

  constructor(token: AccessToken, mayRepeat: boolean, api: ProtectedApi, gate: Gate) {
    this.#token = token
    this.#mayRepeat = mayRepeat
    this.#api = api
    this.#gate = gate
  }

  get authorization(): string {
    return AccessToken.authorization(this.#token)
  }

  report(report: Report): 'final' | 'again' {
    return this.#api.judge(this.#token, this.#mayRepeat, report)
  }

  release(): void {
    this.#gate?.left()
    this.#gate = undefined
  }
}

async function discard(exchange: Exchange<unknown>): Promise<void> {
  try {
    await exchange.discard()
  } catch {
    // the answer is unwanted, and so is its failure
  }
}

export function closedError(what: string): TokenlaneError {
  return new TokenlaneError('MANAGER_CLOSED', `Cannot use ${what}: the token manager was closed`)
}
