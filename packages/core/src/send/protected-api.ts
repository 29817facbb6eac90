import { AccessToken } from '../token/access-token.ts'
import type { AdmitOptions, Api, ApiStatus, Exchange, Pass, Report, SendOptions, Verdict } from './api.ts'
import { refusesToken } from './bearer-challenge.ts'
import { CallRecord } from './call-record.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import { closedError } from '../errors.ts'
import { refuse } from '../options/check.ts'
import type { Emit, ResendReason } from '../events.ts'
import { ApiQueue, type Turn } from '../queue/api-queue.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'
import type { CheckedPolicy } from '../queue/rate-policy.ts'
import { waitsBetween } from '../queue/waiting-time.ts'
import type { RejectionBackoff } from './rejection-backoff.ts'
import { pause } from '../time/delay.ts'
import type { CurrentToken } from '../token/renewing-token.ts'

export interface ProtectedApiOptions {
  readonly baseUrl: string
  readonly issuer: string
  readonly ratePolicy: CheckedPolicy | undefined
  readonly resend: boolean | readonly string[]
  readonly token: CurrentToken
  readonly callsUnderWay: CallsUnderWay
  readonly emit: Emit
  readonly limiter?: RateLimiterFactory | undefined
  /** Decides when a 401 forces a renewal. */
  readonly rejections: Pick<RejectionBackoff, 'epoch' | 'untilRenewal' | 'renewed' | 'accepted'>
}

/** What the calls of one API share. */
interface Shared extends Omit<ProtectedApiOptions, 'ratePolicy' | 'limiter'> {
  /** `undefined` without a rate policy: then calls wait for a token only. */
  readonly queue: ApiQueue | undefined
}

/** Resends after a 401: one with the token that this call had renewed, one with a token that other calls had renewed. */
const mostAfter401 = 2
const mostAfterLimit = 3

/**
 * The send rule: wait for a slot, make sure of a live token, wait for a permit, send; on a 401 renew once and send once
 * more.
 */
export class ProtectedApi implements Api {
  readonly baseUrl: string
  readonly issuer: string
  readonly #shared: Shared

  constructor({ ratePolicy, limiter, ...shared }: ProtectedApiOptions) {
    const { baseUrl, issuer, token, emit } = shared
    this.baseUrl = baseUrl
    this.issuer = issuer
    this.#shared = {
      ...shared,
      queue: ratePolicy && new ApiQueue(baseUrl, ratePolicy, token, emit, limiter),
    }
  }

  send<T>(attempt: (authorization: string) => Promise<Exchange<T>>, options: SendOptions = {}): Promise<T> {
    const record = options.pass === undefined ? this.#recordOf(options) : undefined
    if (record === undefined) return this.#send(attempt, options)
    return record.begin(() => this.#send(attempt, options, record))
  }

  admit(options: AdmitOptions = {}): Promise<Pass> {
    const record = this.#recordOf(options)
    return record === undefined ? this.#admit(options) : record.begin(() => this.#admit(options, record))
  }

  keepOpen(): () => void {
    const { callsUnderWay } = this.#shared
    callsUnderWay.entered()
    let isOver = false
    return () => {
      if (!isOver) callsUnderWay.left()
      isOver = true
    }
  }

  status(): ApiStatus {
    return { baseUrl: this.baseUrl, issuer: this.issuer, ...this.#shared.queue?.status() }
  }

  /** Lifts a pause that the API asked for. */
  resume(): void {
    this.#shared.queue?.resume()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if there is no rate policy to change, or if its limiter cannot. */
  setRatePolicy(policy: CheckedPolicy): void {
    const { queue } = this.#shared
    if (queue === undefined)
      refuse(
        'ratePolicy',
        'not set',
        'another policy for an API that was created with one, even if it is { limits: [] }',
      )
    queue.setPolicy(policy)
  }

  /** Refuses queued calls. */
  close(): void {
    this.#shared.queue?.close(closedError(this.baseUrl))
  }

  /** Ends what the queue holds, after the last call. */
  async ended(): Promise<void> {
    await this.#shared.queue?.ended()
  }

  async #send<T>(
    attempt: (authorization: string) => Promise<Exchange<T>>,
    options: SendOptions,
    record?: CallRecord,
  ): Promise<T> {
    const api = this.#shared
    let pass = options.pass
    try {
      if (pass === undefined) {
        // not in a function of its own: its promise would be a third of the memory of a queued call
        const turn = enter(api, options, record)
        pass = new AttemptPass(api, options, turn instanceof Promise ? await turn : turn, record)
      }
      for (;;) {
        // the signal may have aborted between the token's arrival and our turn
        options.signal?.throwIfAborted()
        pass.sent()
        const exchange = await attempt(pass.authorization)
        if (pass.report(exchange) === 'final') {
          pass.release()
          return exchange.result
        }
        await discard(exchange)
        pass = await pass.next()
      }
    } catch (error) {
      if (pass === undefined) leaveUnsent(api, record, error)
      else pass.release(error)
      throw error
    }
  }

  async #admit(options: AdmitOptions, record?: CallRecord): Promise<Pass> {
    return unlessAborted(await admitted(this.#shared, options, record), options.signal)
  }

  #recordOf({ client }: AdmitOptions): CallRecord | undefined {
    return CallRecord.of(this, client, this.#shared.emit)
  }
}

/** Waits until one attempt may go out: the first of a call, or the one after `before`. */
async function admitted(
  api: Shared,
  options: AdmitOptions,
  record: CallRecord | undefined,
  before?: AttemptPass,
): Promise<AttemptPass> {
  try {
    return new AttemptPass(api, options, await enter(api, options, record, before), record, before)
  } catch (error) {
    leaveUnsent(api, record, error)
    throw error
  }
}

/** Returns what a call is sent with, without a promise where nothing has to be waited for. The caller leaves, also after a throw. */
function enter(
  api: Shared,
  options: AdmitOptions,
  record: CallRecord | undefined,
  before?: AttemptPass,
): Turn | AccessToken | Promise<Turn | AccessToken> {
  // counted first: an observer of what follows may close the manager
  api.callsUnderWay.entered()
  const isUnderWay = before !== undefined || options.underway === true
  if (options.signal?.aborted === true && !isUnderWay) options.beforeWait?.()
  options.signal?.throwIfAborted()
  if (api.callsUnderWay.closed && !isUnderWay) throw closedError(api.baseUrl)
  return takeTurn(api, options, isUnderWay, record)
}

/** Ends a call for which there was no pass. */
function leaveUnsent(api: Shared, record: CallRecord | undefined, error: unknown): void {
  api.callsUnderWay.left()
  record?.finish(error)
}

/** Returns slot, token and permit where the API has a rate policy; else the token alone. */
function takeTurn(
  { queue, token }: Shared,
  options: AdmitOptions,
  isUnderWay: boolean,
  record: CallRecord | undefined,
): Turn | AccessToken | Promise<Turn | AccessToken> {
  const live = queue === undefined ? token.live() : undefined
  if (live !== undefined) return live
  if (!isUnderWay) options.beforeWait?.()
  const { signal, priority = 0 } = options
  if (queue === undefined) {
    const waiting = token.wait(signal ?? undefined)
    return record ? record.timeToken(waiting) : waiting
  }
  const before = record && queue.waits()
  const turn = queue.enter({ signal: signal ?? undefined, priority, resend: isUnderWay })
  if (before === undefined || !(turn instanceof Promise)) return turn
  return turn.finally(() => record?.addWaits(waitsBetween(before, queue.waits())))
}

/** The right to send one attempt of a call, and what the call has done before. */
class AttemptPass implements Pass {
  readonly #api: Shared
  readonly #options: AdmitOptions
  readonly #token: AccessToken
  /** `undefined` where the API has no rate policy. */
  readonly #turn: Turn | undefined
  readonly #record: CallRecord | undefined
  readonly #epoch: number
  /** Whether the token was renewed for this call. */
  #wasRenewed = false
  /** How long the renewal that the response asks for has to wait, in milliseconds. */
  #renewalIn = 0
  #resendsAfter401 = 0
  #resendsAfterLimit = 0
  #isSent = false
  #isOver = false

  constructor(
    api: Shared,
    options: AdmitOptions,
    turn: Turn | AccessToken,
    record: CallRecord | undefined,
    before?: AttemptPass,
  ) {
    this.#api = api
    this.#options = options
    this.#turn = turn instanceof AccessToken ? undefined : turn
    this.#token = turn instanceof AccessToken ? turn : turn.token
    this.#record = record
    this.#epoch = api.rejections.epoch
    if (before === undefined) return
    this.#wasRenewed = before.#wasRenewed
    this.#resendsAfter401 = before.#resendsAfter401
    this.#resendsAfterLimit = before.#resendsAfterLimit
  }

  get authorization(): string {
    return AccessToken.authorization(this.#token)
  }

  sent(): void {
    this.#isSent = true
    this.#record?.sent(this.#token)
  }

  report(report: Report): Verdict {
    const { queue } = this.#api
    if (!this.#isSent) this.sent()
    if (this.#record !== undefined) this.#record.status = report.status
    const isLimited = this.#turn !== undefined && queue?.answered(this.#turn, report) === true
    const verdict = this.#judge(report, isLimited)
    // only now: the next call must not get a refused token, nor be sent before a pause begins
    queue?.serve()
    return verdict
  }

  async next({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<Pass> {
    const options = signal === undefined ? this.#options : { ...this.#options, signal }
    if (this.#renewalIn > 0) {
      const waiting = this.#awaitRenewal(options.signal ?? undefined)
      await (this.#record?.timeToken(waiting) ?? waiting)
    }
    const entering = admitted(this.#api, options, this.#record, this)
    // queued first, or another call would take the slot
    this.#leave()
    return unlessAborted(await entering, options.signal)
  }

  release(failure?: unknown): void {
    if (this.#isOver) return
    this.#leave()
    this.#record?.finish(failure)
  }

  #judge(report: Report, isLimited: boolean): Verdict {
    if (isLimited) return this.#resendAfterLimit()
    if (report.status === 401) return this.#afterRejection(report)
    // an error of the server says nothing about the token
    if (report.status < 500) this.#api.rejections.accepted(this.#token, this.#epoch, this.#wasRenewed)
    return 'final'
  }

  #afterRejection({ wwwAuthenticate }: Report): Verdict {
    const { token, rejections } = this.#api
    if (!refusesToken(wwwAuthenticate)) return 'final'
    if (!token.isCurrent(this.#token)) return this.#resendAfter401('replaced')
    const wait = rejections.untilRenewal(this.#token, this.#wasRenewed)
    if (wait === undefined) return 'final'
    if (wait === 0) this.#renew()
    this.#renewalIn = wait
    return this.#resendAfter401('rejected')
  }

  #renew(): void {
    const { token, rejections, emit, issuer, baseUrl } = this.#api
    rejections.renewed()
    token.invalidate(this.#token)
    emit?.({ type: 'token.rejected', issuer, api: baseUrl })
    this.#wasRenewed = true
  }

  /** Waits until the refused token may be renewed. It is not if the API accepts it meanwhile. */
  async #awaitRenewal(signal: AbortSignal | undefined): Promise<void> {
    const { token, rejections } = this.#api
    for (let wait: number | undefined = this.#renewalIn; wait !== undefined && wait > 0;) {
      await pause(wait, signal)
      if (!token.isCurrent(this.#token)) {
        this.#wasRenewed = true
        return
      }
      wait = rejections.untilRenewal(this.#token, false)
      if (wait === 0) this.#renew()
    }
  }

  #resendAfter401(reason: ResendReason): Verdict {
    if (this.#resendsAfter401 === mostAfter401 || !this.#mayResend()) return 'final'
    this.#resendsAfter401 += 1
    this.#record?.resends.push(reason)
    return 'again'
  }

  #resendAfterLimit(): Verdict {
    if (this.#resendsAfterLimit === mostAfterLimit || !this.#mayResend()) return 'final'
    this.#resendsAfterLimit += 1
    this.#record?.resends.push('limited')
    return 'again'
  }

  /** Whether the body can be sent again, and neither the call nor its API forbids it. */
  #mayResend(): boolean {
    const { replayable = true, resend = this.#api.resend } = this.#options
    if (!replayable) return false
    return typeof resend === 'boolean' ? resend : resend.includes(this.#options.method ?? '')
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#turn !== undefined) this.#api.queue?.leave(this.#turn, this.#isSent)
    this.#api.callsUnderWay.left()
  }
}

// its `authorization` is for the wire, and for no log
Object.defineProperty(AttemptPass.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: (): string => '[pass]',
})

/** The signal may have aborted between the arrival of the pass and its use. */
function unlessAborted(pass: Pass, signal: AbortSignal | null | undefined): Pass {
  if (signal?.aborted !== true) return pass
  pass.release(signal.reason)
  throw signal.reason as Error
}

async function discard(exchange: Exchange<unknown>): Promise<void> {
  try {
    await exchange.discard()
  } catch {
    // the response is unwanted, and so is its failure
  }
}
