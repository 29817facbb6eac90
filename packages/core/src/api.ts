import { AccessToken } from './access-token.ts'
import { backoff } from './backoff.ts'
import { refusesToken } from './challenge.ts'
import { TokenlaneError } from './errors.ts'
import type { Emit } from './events.ts'
import { Lane, type Turn } from './lane.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import type { RenewingToken } from './renewing-token.ts'
import { parseRetryAfter } from './retry-after.ts'

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
  /**
   * Goes before calls of a lower one where an API has a rate policy; a whole number.
   *
   * @defaultValue 0
   */
  readonly priority?: number | undefined
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

/** Pauses of an API that says neither how long, from here to there. */
const firstPause = 1_000
const longestPause = 60_000
/** How often a call goes again because the limit was passed. */
const mostLimited = 3

export interface ProtectedApiOptions {
  readonly baseUrl: string
  readonly issuer: string
  readonly ratePolicy: CheckedPolicy | undefined
  readonly token: RenewingToken
  readonly gate: Gate
  readonly emit: Emit
}

/**
 * The send rule: wait for a slot, make sure of a live token, wait for a permit, send; on a 401 renew once and
 * send once more.
 */
export class ProtectedApi implements Api {
  readonly baseUrl: string
  readonly issuer: string
  readonly #token: RenewingToken
  readonly #gate: Gate
  readonly #emit: Emit
  readonly #limitedStatuses: readonly number[]
  /** `undefined` without a rate policy: then nobody queues. */
  readonly #lane: Lane | undefined
  /** Tokens in a row that this API refused though they were current, and when the next may be renewed for it. */
  #rejections = 0
  #renewAgainAt = 0
  /** Answers in a row that said that the limit was passed. */
  #limited = 0

  constructor({ baseUrl, issuer, ratePolicy, token, gate, emit }: ProtectedApiOptions) {
    this.baseUrl = baseUrl
    this.issuer = issuer
    this.#token = token
    this.#gate = gate
    this.#emit = emit
    this.#limitedStatuses = ratePolicy?.limitedStatuses ?? []
    this.#lane = ratePolicy && new Lane(baseUrl, ratePolicy, token, emit)
  }

  async send<T>(
    attempt: (authorization: string) => Promise<Exchange<T>>,
    options: SendOptions = {},
  ): Promise<T> {
    const entering = this.#enter(options)
    let pass = entering instanceof AttemptPass ? entering : await entering
    try {
      for (;;) {
        const exchange = await attempt(pass.authorization)
        if (pass.report(exchange) === 'final') return exchange.result
        await discard(exchange)
        pass = await this.#enter({ ...options, after: pass })
      }
    } finally {
      pass.release()
    }
  }

  async admit(options: AdmitOptions = {}): Promise<Pass> {
    return this.#enter(options)
  }

  status(): ApiStatus {
    return { baseUrl: this.baseUrl, issuer: this.issuer, ...this.#lane?.status() }
  }

  /** Refuses the calls that wait in line. */
  close(): void {
    this.#lane?.close(closedError(this.baseUrl))
  }

  #enter(options: AdmitOptions): AttemptPass | Promise<AttemptPass> {
    options.signal?.throwIfAborted()
    const after = options.after as AttemptPass | undefined
    // a call that is under way may end, even while the manager closes
    if (this.#gate.closed && after === undefined) throw closedError(this.baseUrl)
    const turn = this.#turn(options)
    this.#gate.entered()
    // in line first, or somebody else would take the slot
    after?.release()
    return turn instanceof Promise ? this.#later(turn, options) : this.#pass(turn, options)
  }

  #turn({ signal, priority = 0, after }: AdmitOptions): Turn | Promise<Turn> {
    if (this.#lane !== undefined)
      return this.#lane.enter({ signal: signal ?? undefined, priority, again: after !== undefined })
    const token = this.#token.live()
    return token ? { token } : this.#token.wait(signal ?? undefined).then((renewed) => ({ token: renewed }))
  }

  async #later(turn: Promise<Turn>, options: AdmitOptions): Promise<AttemptPass> {
    try {
      return this.#pass(await turn, options)
    } catch (error) {
      this.#gate.left()
      throw error
    }
  }

  #pass(turn: Turn, { replayable = true, after }: AdmitOptions): AttemptPass {
    const before = after as AttemptPass | undefined
    return new AttemptPass(this, turn, replayable, before?.repeats ?? { rejected: 0, limited: 0 })
  }

  /** @internal The attempt ended. */
  left(): void {
    this.#lane?.leave()
    this.#gate.left()
  }

  /** @internal What an answer means for the token, for the API, and for the call. */
  judge(token: AccessToken, report: Report, replayable: boolean, repeats: Repeats): 'final' | 'again' {
    this.#lane?.answered()
    if (report.status === 401)
      return this.#refuses(token, report) && replayable && repeats.rejected++ === 0 ? 'again' : 'final'
    if (this.#limitedStatuses.includes(report.status)) {
      this.#pause(report)
      return replayable && repeats.limited++ < mostLimited ? 'again' : 'final'
    }
    // an error of the server tells nothing of the token
    if (report.status < 500) this.#rejections = 0
    this.#limited = 0
    return 'final'
  }

  /** Whether this 401 is about the token, and a newer one is there or on its way. */
  #refuses(token: AccessToken, { wwwAuthenticate }: Report): boolean {
    if (!refusesToken(wwwAuthenticate)) return false
    if (!this.#token.isCurrent(token)) return true
    // an API that refuses every token must not cost a token request per call
    if (this.#rejections > 0 && performance.now() < this.#renewAgainAt) return false
    this.#rejections += 1
    this.#renewAgainAt = performance.now() + backoff(this.#rejections, firstRejection, longestRejection)
    this.#token.invalidate(token)
    this.#emit?.({ type: 'token.rejected', issuer: this.issuer, api: this.baseUrl })
    return true
  }

  #pause({ status, retryAfter }: Report): void {
    this.#limited += 1
    const asked = parseRetryAfter(retryAfter, Date.now())
    this.#lane?.pause(asked ?? backoff(this.#limited, firstPause, longestPause), status)
  }
}

/** One API in a snapshot of the manager. */
export interface ApiStatus {
  readonly baseUrl: string
  readonly issuer: string
  /** Calls that wait, where the API has a rate policy. */
  readonly queued?: number
  /** Calls under way, where the API has a rate policy. */
  readonly running?: number
  /** ISO 8601, while the API is paused because it said that the limit was passed. */
  readonly pausedUntil?: string
}

/** How often a call went again, and why. */
interface Repeats {
  rejected: number
  limited: number
}

class AttemptPass implements Pass {
  readonly #api: ProtectedApi
  readonly #turn: Turn
  readonly #replayable: boolean
  readonly repeats: Repeats
  #released = false

  constructor(api: ProtectedApi, turn: Turn, replayable: boolean, repeats: Repeats) {
    this.#api = api
    this.#turn = turn
    this.#replayable = replayable
    this.repeats = repeats
  }

  get authorization(): string {
    return AccessToken.authorization(this.#turn.token)
  }

  report(report: Report): 'final' | 'again' {
    this.#turn.permit?.answered()
    return this.#api.judge(this.#turn.token, report, this.#replayable, this.repeats)
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#turn.permit?.ended()
    this.#api.left()
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
