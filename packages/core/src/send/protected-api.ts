import type { AccessToken } from '../token/access-token.ts'
import type { AdmitOptions, Api, ApiStatus, Exchange, Pass, Report, SendOptions } from './api.ts'
import { AttemptPass, type Repeats, type TurnKeeper } from './pass.ts'
import { refuse } from '../options/check.ts'
import { refusesToken } from './bearer-challenge.ts'
import type { Emit } from '../events.ts'
import type { Gate } from './calls-under-way.ts'
import { ApiQueue, type Turn } from '../queue/api-queue.ts'
import { closedError } from '../errors.ts'
import type { Permit } from '../queue/rate-limiter.ts'
import type { CheckedPolicy } from '../queue/rate-policy.ts'
import { Rejections } from './rejections.ts'
import type { RenewingToken } from '../token/renewing-token.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'

/** How often a call goes again because the limit was passed. */
const mostLimited = 3

/** Of an API without a rate policy. */
const unlimited: Permit = { answered() {}, ended() {}, cancel() {} }

export interface ProtectedApiOptions {
  readonly baseUrl: string
  readonly issuer: string
  readonly ratePolicy: CheckedPolicy | undefined
  readonly resend: boolean | readonly string[]
  readonly token: RenewingToken
  readonly gate: Gate
  readonly emit: Emit
  readonly limiter?: RateLimiterFactory | undefined
}

/**
 * The send rule: wait for a slot, make sure of a live token, wait for a permit, send; on a 401 renew once and
 * send once more.
 */
export class ProtectedApi implements Api, TurnKeeper {
  readonly baseUrl: string
  readonly issuer: string
  readonly #token: RenewingToken
  readonly #gate: Gate
  readonly #emit: Emit
  readonly #resend: boolean | readonly string[]
  /** `undefined` without a rate policy: then nobody queues. */
  readonly #queue: ApiQueue | undefined
  readonly #rejections = new Rejections()
  /** Of calls with this token that need no slot and no permit: one for all of them. */
  #freeTurn: Turn | undefined

  constructor({ baseUrl, issuer, ratePolicy, resend, token, gate, emit, limiter }: ProtectedApiOptions) {
    this.baseUrl = baseUrl
    this.issuer = issuer
    this.#token = token
    this.#gate = gate
    this.#emit = emit
    this.#resend = resend
    this.#queue = ratePolicy && new ApiQueue(baseUrl, ratePolicy, token, emit, limiter)
  }

  async send<T>(
    attempt: (authorization: string) => Promise<Exchange<T>>,
    options: SendOptions = {},
  ): Promise<T> {
    const entering = options.pass ?? this.#enter(options)
    let pass = entering instanceof Promise ? await entering : entering
    try {
      for (;;) {
        // the signal may have aborted between the token's arrival and our turn
        options.signal?.throwIfAborted()
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
    const entering = this.#enter(options)
    const pass = entering instanceof Promise ? await entering : entering
    if (options.signal?.aborted !== true) return pass
    pass.release()
    throw options.signal.reason as Error
  }

  keepOpen(): () => void {
    this.#gate.entered()
    let over = false
    return () => {
      if (!over) this.#gate.left()
      over = true
    }
  }

  status(): ApiStatus {
    return { baseUrl: this.baseUrl, issuer: this.issuer, ...this.#queue?.status() }
  }

  /** Lifts a pause that the API asked for. */
  resume(): void {
    this.#queue?.resume()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if there is no rate policy to change, or if its limiter cannot. */
  setRatePolicy(policy: CheckedPolicy): void {
    if (this.#queue === undefined)
      refuse(
        'ratePolicy',
        'not set',
        'another policy for an API that was created with one, even if it is { limits: [] }',
      )
    this.#queue.setPolicy(policy)
  }

  /** Refuses the calls that wait in line. */
  close(): void {
    this.#queue?.close(closedError(this.baseUrl))
  }

  /** After the last call. */
  async ended(): Promise<void> {
    await this.#queue?.ended()
  }

  #enter(options: AdmitOptions): AttemptPass | Promise<AttemptPass> {
    options.signal?.throwIfAborted()
    const after = options.after as AttemptPass | undefined
    // a call that is under way may end, even while the manager closes
    if (this.#gate.closed && !isUnderWay(options)) throw closedError(this.baseUrl)
    const turn = this.#turn(options)
    this.#gate.entered()
    // in line first, or somebody else would take the slot
    after?.release()
    return turn instanceof Promise ? this.#later(turn, options) : this.#pass(turn, options)
  }

  #turn(options: AdmitOptions): Turn | Promise<Turn> {
    const { signal, priority = 0 } = options
    if (this.#queue !== undefined)
      return this.#queue.enter({ signal: signal ?? undefined, priority, resend: isUnderWay(options) })
    const token = this.#token.live()
    return token ? this.#turnWith(token) : this.#token.wait(signal ?? undefined).then(freeTurn)
  }

  #turnWith(token: AccessToken): Turn {
    if (this.#freeTurn?.token !== token) this.#freeTurn = freeTurn(token)
    return this.#freeTurn
  }

  #later(turn: Promise<Turn>, options: AdmitOptions): Promise<AttemptPass> {
    // an async function would take 160 bytes more for each call in line
    return turn.then(
      (taken) => this.#pass(taken, options),
      (error: unknown) => {
        this.#gate.left()
        throw error
      },
    )
  }

  #pass(turn: Turn, options: AdmitOptions): AttemptPass {
    return new AttemptPass(this, turn, this.#mayResend(options), options.after as AttemptPass | undefined)
  }

  /** Whether the call may be sent again: its body can be, and neither the call nor the API says no. */
  #mayResend(options: AdmitOptions): boolean {
    const { replayable = true, resend = this.#resend } = options
    if (!replayable) return false
    return typeof resend === 'boolean' ? resend : resend.includes(options.method ?? '')
  }

  /** @internal */
  left(turn: Turn, sent: boolean): void {
    this.#queue?.leave(turn, sent)
    this.#gate.left()
  }

  /** @internal */
  judge(turn: Turn, report: Report, replayable: boolean, repeats: Repeats): 'final' | 'again' {
    const limited = this.#queue?.answered(turn, report) ?? false
    const verdict = this.#verdict(turn, report, replayable, repeats, limited)
    // only now: the next must not get a token that was refused, nor slip out before a pause
    this.#queue?.serve()
    return verdict
  }

  #verdict(
    turn: Turn,
    report: Report,
    replayable: boolean,
    repeats: Repeats,
    limited: boolean,
  ): 'final' | 'again' {
    if (report.status === 401)
      return this.#refuses(turn.token, report) && replayable && repeats.rejected++ === 0 ? 'again' : 'final'
    if (limited) return replayable && repeats.limited++ < mostLimited ? 'again' : 'final'
    // an error of the server tells nothing of the token
    if (report.status < 500) this.#rejections.accepted(repeats.rejected > 0)
    return 'final'
  }

  /** Whether this 401 is about the token, and a newer one is there or on its way. */
  #refuses(token: AccessToken, { wwwAuthenticate }: Report): boolean {
    if (!refusesToken(wwwAuthenticate)) return false
    if (!this.#token.isCurrent(token)) return true
    if (!this.#rejections.mayRenew()) return false
    this.#token.invalidate(token)
    this.#emit?.({ type: 'token.rejected', issuer: this.issuer, api: this.baseUrl })
    return true
  }
}

function isUnderWay({ after, underway = after !== undefined }: AdmitOptions): boolean {
  return underway
}

function freeTurn(token: AccessToken): Turn {
  return { token, permit: unlimited, takenAt: 0, order: 0 }
}

async function discard(exchange: Exchange<unknown>): Promise<void> {
  try {
    await exchange.discard()
  } catch {
    // the answer is unwanted, and so is its failure
  }
}
