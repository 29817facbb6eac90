import { closedError, errorForCaller, isClosed, withOwnError } from '../errors.ts'
import type { ResendReason } from '../events.ts'
import type { ApiQueue } from '../queue/api-queue.ts'
import type { Lane, QueuedCall, RunningCall } from '../queue/lane.ts'
import type { Refusal, RefusedCall } from '../limits/refusals.ts'
import { AccessToken } from '../access-token.ts'
import type { Countdown } from '../time/countdown.ts'
import type { AdmitOptions, Pass, Report, Verdict } from './api.ts'
import { CallRecord, tracing } from './call-record.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import type { Refusing, Rejections } from './rejections.ts'
import { withinTokenWait } from './token-wait.ts'

export interface CallContext extends Refusing {
  /** `undefined` without a rate policy: then calls wait for a token only. */
  readonly queue: ApiQueue | undefined
  readonly rejections: Rejections
  readonly refuses: (report: Report, statuses: readonly number[]) => boolean
  readonly refusedStatuses: readonly number[]
  /** Whether calls may be sent again, or the methods of those that may. */
  readonly resend: boolean | readonly string[]
  /** What stands before the token in the `Authorization` header. */
  readonly scheme: string
  readonly callsUnderWay: CallsUnderWay
}

/**
 * One attempt of a call: its wait for a slot, a token and a permit, and then the right to send it. What is known of the call
 * goes on to the next one.
 */
export class AttemptPass implements Pass, QueuedCall, RefusedCall {
  readonly #api: CallContext
  readonly options: AdmitOptions
  /** Whether the call has been sent: then it goes before queued ones, whether the queue is full or the manager closes. */
  readonly sentBefore: boolean
  /** Why the call is sent again; `undefined` the first time, also on a redirect. */
  readonly resend: ResendReason | undefined
  /** `undefined` if calls are not observed. */
  readonly record: CallRecord | undefined
  refusal: Refusal | undefined
  /** Whether the call was sent again after a 401, also before a redirect. */
  isRetried: boolean
  /** Ends the measurement of its wait. */
  #measured: (() => void) | undefined = undefined
  #token!: AccessToken
  /** `undefined` where the API has no rate policy, and once it is given back. */
  #running: RunningCall | undefined = undefined
  /** Since when the API has refused the token, as known when the attempt was sent. */
  #refusedSince: number | undefined = undefined
  #isSent = false
  #isOver = false
  #verdict: Verdict | undefined = undefined
  #again: ResendReason = 'retried'
  /** How long it waits for a renewal, in milliseconds. */
  #wait = 0
  queuedAt = 0
  signal: AbortSignal | undefined
  lane: Lane | undefined
  rank = 0
  countdown: Countdown | undefined
  send: QueuedCall['send']

  /** @param before - the attempt before: of the same call if it is sent again, else of the one that was redirected. */
  constructor(api: CallContext, options: AdmitOptions, before?: AttemptPass, resend?: ResendReason) {
    const same = resend === undefined ? undefined : before
    const isObserved = same === undefined && (api.emit.isObserved || tracing.isObserved)
    this.#api = api
    this.options = options
    this.sentBefore = before !== undefined
    this.resend = resend
    this.record = isObserved ? new CallRecord(api, options) : same?.record
    this.refusal = same?.refusal
    this.isRetried = before?.isRetried === true
  }

  /** Begins a call, and runs the synchronous part of its work. */
  begin<T>(work: (admitted: Pass | Promise<Pass>) => T): T {
    if (this.record === undefined) return work(this.#enter())
    return tracing.begin(this.record, () => work(this.#enter()))
  }

  /** Returns the pass: synchronously if nothing has to be awaited. Every failure is a rejection. */
  #enter(): Pass | Promise<Pass> {
    const { baseUrl, callsUnderWay, queue, rejections } = this.#api
    const { tokenWait } = this.options
    const signal = this.options.signal ?? undefined
    // counted first: an observer of what follows may close the manager
    if (this.resend === undefined) callsUnderWay.count += 1
    try {
      signal?.throwIfAborted()
      // the manager may have closed before a client asked for its next attempt
      if (callsUnderWay.closed && (!this.sentBefore || this.resend === 'limited'))
        throw closedError(baseUrl, baseUrl)
      const live = queue === undefined ? rejections.live() : undefined
      if (live !== undefined) {
        this.admitted(live)
        return this
      }
      if (queue === undefined) this.options.mustBeRight?.()
      this.#measured = this.record?.measure(queue)
      if (tokenWait === undefined) return this.#goIn(signal)
      const waiting = { api: this.#api, signal, start: () => tokenTime(queue) }
      return withinTokenWait(tokenWait, waiting, (until) => this.#goIn(until))
    } catch (error) {
      return Promise.reject(this.refused(error))
    }
  }

  #goIn(signal: AbortSignal | undefined): Pass | Promise<Pass> {
    return this.#api.queue?.enter(this, signal) ?? this.#waitForToken(signal)
  }

  async #waitForToken(signal: AbortSignal | undefined): Promise<Pass> {
    const { baseUrl, callsUnderWay, token } = this.#api
    const waited = token.wait(signal)
    const closed = (): Error => closedError(baseUrl, baseUrl)
    try {
      this.admitted(await (this.sentBefore ? waited : callsUnderWay.untilClosed(waited, closed)))
      return this
    } catch (error) {
      throw this.refused(error)
    }
  }

  /** @param entered - slot, token and permit; the token alone where the API has no rate policy. */
  admitted(entered: RunningCall | AccessToken): void {
    this.#measured?.()
    this.#running = entered instanceof AccessToken ? undefined : entered
    this.#token = entered instanceof AccessToken ? entered : entered.token
    this.#refusedSince = this.#api.rejections.refusedSince
  }

  refused(error: unknown): unknown {
    this.#measured?.()
    // it waited in vain after a refusal for its limit: the caller gets that response
    const isEndOfLimited = this.resend === 'limited' && isClosed(error)
    this.#end(isEndOfLimited ? undefined : error)
    return error
  }

  get authorization(): string {
    return `${this.#api.scheme} ${this.#token.value}`
  }

  sent(): void {
    this.#isSent = true
    this.record?.sent(this.#token)
  }

  report(report: Report): Verdict {
    if (this.#verdict !== undefined) return this.#verdict
    const { queue } = this.#api
    if (!this.#isSent) this.sent()
    if (queue === undefined && report.status === 429) tellLimit(this.#api)
    if (this.record !== undefined) this.record.status = report.status
    const running = this.#running
    this.#verdict = running && queue ? queue.answered(running, report, this) : this.judge(report, false)
    // the next hop of a redirect takes a slot of its own, and the client may run hooks before
    if (report.status >= 300 && report.status < 400) this.#leaveQueue()
    return this.#verdict
  }

  async next(): Promise<Pass> {
    if (this.#wait > 0) await this.#waitForRenewal()
    const isSame = this.#again === 'rejected' && this.#api.token.held.token === this.#token
    const reason = isSame ? 'retried' : this.#again
    this.record?.resends.push(reason)
    // queued before the slot is given back, or another call would take it
    const entering = new AttemptPass(this.#api, this.options, this, reason).#enter()
    this.#isOver = true
    this.#leaveQueue()
    try {
      return await entering
    } catch (error) {
      throw errorForCaller(error)
    }
  }

  async follow(call: AdmitOptions = {}): Promise<Pass> {
    const entering = new AttemptPass(this.#api, call, this).begin((pass) => pass)
    this.release()
    return withOwnError(entering)
  }

  release(failure?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    if (failure !== undefined && this.#isWrong) this.#isSent = false
    this.#leaveQueue()
    this.#end(failure)
  }

  /** Whether its client refuses it: then it has taken no unit. */
  get #isWrong(): boolean {
    try {
      this.options.mustBeRight?.()
      return false
    } catch {
      return true
    }
  }

  judge(report: Report, isLimited: boolean): Verdict {
    const { token, rejections, refuses, refusedStatuses } = this.#api
    if (isLimited) {
      this.#again = 'limited'
      return this.#mayResend && this.#mayWait ? 'again' : 'final'
    }
    if (!refuses(report, refusedStatuses)) {
      // an error of the server says nothing about the token, nor does a 401 for another reason
      if (report.status < 500 && report.status !== 401) rejections.accepted(this.#token, this.#refusedSince)
      return 'final'
    }
    const mayResend = this.#mayResend && !this.isRetried
    this.#again = token.held.token === this.#token ? 'rejected' : 'replaced'
    const wait = rejections.refused(this.#token, { mayResend, maxWait: token.maxWait, report })
    if (wait === undefined || !mayResend) {
      rejections.reportFinal(this.#token)
      return 'final'
    }
    this.#wait = wait
    this.isRetried = true
    return 'again'
  }

  /** Whether a call that was refused for a limit waits: a manager that closes does not, and the API must accept some. */
  get #mayWait(): boolean {
    const { callsUnderWay, queue } = this.#api
    return !callsUnderWay.closed && queue?.givesUp(this) === false
  }

  get #mayResend(): boolean {
    const { queue } = this.#api
    const { method = '', replayable = true, resend = this.#api.resend } = this.options
    // after a longer pause, the response would come too late for the caller
    if (!replayable || queue?.isPausedTooLong === true) return false
    return typeof resend === 'boolean' ? resend : resend.includes(method)
  }

  async #waitForRenewal(): Promise<void> {
    const measured = this.record?.measure()
    try {
      await this.#api.rejections
        .waitForRenewal(this.#wait, this.#token, this.options.signal ?? undefined)
        .finally(measured)
    } catch (reason) {
      // the client has nothing left to release: the next pass was to take the place of this one
      this.release(reason)
      throw reason
    }
  }

  #leaveQueue(): void {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) this.#api.queue?.leave(running, this.#isSent)
  }

  #end(failure: unknown): void {
    this.#api.callsUnderWay.left()
    this.refusal?.countdown?.stop()
    this.record?.finish(failure)
  }

  // keeps `authorization` and URLs out of logs

  toJSON(): string {
    return '[pass]'
  }
  static {
    Object.defineProperty(this.prototype, Symbol.for('nodejs.util.inspect.custom'), { value: () => '[pass]' })
  }
}

function tokenTime(queue: ApiQueue | undefined): () => number {
  const waits = queue?.waitingTime.start()
  const start = performance.now()
  return () => waits?.().token ?? performance.now() - start
}

/** The APIs without a rate policy that have refused a call for its limit. */
const limited = new WeakSet<CallContext>()

function tellLimit(api: CallContext): void {
  if (limited.has(api)) return
  limited.add(api)
  api.emit({ type: 'policy.missing', api: api.baseUrl })
}
