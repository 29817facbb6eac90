import { closedError, isClosed, withOwnError } from '../errors.ts'
import type { ResendReason } from '../events.ts'
import type { ApiQueue } from '../queue/api-queue.ts'
import type { RunningCall, Waiter } from '../queue/queued-calls.ts'
import type { Refusal, RefusedCall } from '../limits/refusals.ts'
import { AccessToken } from '../access-token.ts'
import type { AdmitOptions, Pass, Report, Verdict } from './api.ts'
import { CallRecord, tracing } from './call-record.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import type { Refusing, Rejections } from './rejections.ts'
import { withinTokenWait } from './token-wait.ts'

/** What the calls of one API share. */
export interface CallContext extends Refusing {
  /** `undefined` without a rate policy: then calls wait for a token only. */
  readonly queue: ApiQueue | undefined
  readonly rejections: Rejections
  readonly refuses: (report: Report) => boolean
  /** Whether calls may be sent again, or the methods of those that may. */
  readonly resend: boolean | readonly string[]
  /** What stands before the token in the `Authorization` header. */
  readonly scheme: string
  readonly callsUnderWay: CallsUnderWay
}

/** What a call holds: slot, token and permit where the API has a rate policy; else the token alone. */
type EnteredCall = RunningCall | AccessToken

/** One call, through all of its attempts. */
class Call implements Waiter<Pass>, RefusedCall {
  readonly #api: CallContext
  readonly options: AdmitOptions
  readonly resends: ResendReason[] = []
  /** Whether it was sent again after a 401, also before a redirect. */
  isRetried: boolean
  /** `undefined` if calls are not observed. */
  readonly record: CallRecord | undefined
  refusal: Refusal | undefined = undefined
  /** Ends the measurement of its wait. */
  #measured: (() => void) | undefined = undefined

  constructor(api: CallContext, options: AdmitOptions, isRetried: boolean) {
    this.#api = api
    this.options = options
    this.isRetried = isRetried
    const isObserved = api.emit.isObserved || tracing.isObserved
    this.record = isObserved ? new CallRecord(api, options, this.resends) : undefined
  }

  /**
   * Returns the pass of one attempt: synchronously if nothing has to be awaited. Every failure is a rejection.
   *
   * @param sentBefore whether the call has been sent before: then it goes before queued calls, and is not refused for a full
   * queue or a closing manager.
   */
  admit(sentBefore = false): Pass | Promise<Pass> {
    const { baseUrl, callsUnderWay, queue, rejections } = this.#api
    const { priority = 0, tokenWait } = this.options
    const signal = this.options.signal ?? undefined
    const isLimited = this.resends.at(-1) === 'limited'
    this.#measured = undefined
    // counted first: an observer of what follows may close the manager
    callsUnderWay.count += 1
    try {
      signal?.throwIfAborted()
      // the manager may have closed before a client asked for its next attempt
      if (callsUnderWay.closed && (!sentBefore || isLimited)) throw closedError(baseUrl, baseUrl)
      const live = queue === undefined ? rejections.live() : undefined
      if (live !== undefined) return this.admitted(live)
      if (queue === undefined) this.mustBeRight()
      this.#measured = this.record?.measure(queue)
      const goIn = (until: AbortSignal | undefined): Pass | Promise<Pass> =>
        queue?.enter({ signal: until, priority, sentBefore, isLimited }, this) ??
        this.#wait(until, sentBefore)
      return tokenWait === undefined
        ? goIn(signal)
        : withinTokenWait(tokenWait, { api: this.#api, signal, start: () => tokenTime(queue) }, goIn)
    } catch (error) {
      return Promise.reject(this.refused(error))
    }
  }

  mustBeRight(): void {
    this.options.mustBeRight?.()
  }

  /** Whether its client sends it: one that it refuses has taken no unit. */
  get isRight(): boolean {
    try {
      this.mustBeRight()
      return true
    } catch {
      return false
    }
  }

  admitted(entered: EnteredCall): Pass {
    this.#measured?.()
    return new AttemptPass(this.#api, this, entered)
  }

  refused(error: unknown): unknown {
    this.#measured?.()
    this.#api.callsUnderWay.left()
    this.ended()
    // the manager closed while it waited after a refusal for its limit: the caller gets that response
    const isEndOfLimited = this.resends.at(-1) === 'limited' && isClosed(error)
    this.record?.finish(isEndOfLimited ? undefined : error)
    return error
  }

  ended(): void {
    this.refusal?.countdown?.stop()
  }

  /** Waits for a token, without a queue. */
  async #wait(until: AbortSignal | undefined, sentBefore: boolean): Promise<Pass> {
    const { baseUrl, callsUnderWay, token: source } = this.#api
    const waited = source.wait(until)
    const closed = (): Error => closedError(baseUrl, baseUrl)
    let token: AccessToken
    try {
      token = await (sentBefore ? waited : callsUnderWay.untilClosed(waited, closed))
    } catch (error) {
      throw this.refused(error)
    }
    return this.admitted(token)
  }
}

/** Begins a call, and runs the synchronous part of its work. @param before the call that this one is a redirect of. */
export function beginCall<T>(
  api: CallContext,
  options: AdmitOptions,
  work: (admitted: Pass | Promise<Pass>) => T,
  before?: Call,
): T {
  const call = new Call(api, options, before?.isRetried === true)
  const sentBefore = before !== undefined
  if (call.record === undefined) return work(call.admit(sentBefore))
  return tracing.begin(call.record, () => work(call.admit(sentBefore)))
}

export function mustWait({ queue, rejections }: CallContext): boolean {
  return rejections.live() === undefined || queue?.mustWait === true
}

/** Returns a function that measures how long a call has waited for a token since now, in milliseconds. */
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

/** The right to send one attempt of a call. */
class AttemptPass implements Pass {
  readonly #api: CallContext
  readonly #call: Call
  readonly #token: AccessToken
  /** `undefined` where the API has no rate policy, and once it is given back. */
  #running: RunningCall | undefined
  /** Since when the API has refused the token, as known when the attempt was sent. */
  readonly #refusedSince: number | undefined
  #wait = 0
  #isSent = false
  #isOver = false
  #verdict: Verdict | undefined

  constructor(api: CallContext, call: Call, entered: RunningCall | AccessToken) {
    this.#api = api
    this.#call = call
    this.#running = entered instanceof AccessToken ? undefined : entered
    this.#token = entered instanceof AccessToken ? entered : entered.token
    this.#refusedSince = api.rejections.refusedSince
  }

  get authorization(): string {
    return `${this.#api.scheme} ${this.#token.value}`
  }

  sent(): void {
    this.#isSent = true
    this.#call.record?.sent(this.#token)
  }

  report(report: Report): Verdict {
    if (this.#verdict !== undefined) return this.#verdict
    const { queue } = this.#api
    if (!this.#isSent) this.sent()
    if (queue === undefined && report.status === 429) tellLimit(this.#api)
    const { record } = this.#call
    if (record !== undefined) record.status = report.status
    const running = this.#running
    this.#verdict =
      running && queue
        ? queue.answered(running, report, (isLimited) => this.#judge(report, isLimited))
        : this.#judge(report, false)
    // the next hop of a redirect takes a slot of its own, and the client may run hooks before
    if (report.status >= 300 && report.status < 400) this.#leaveQueue()
    return this.#verdict
  }

  async next(): Promise<Pass> {
    if (this.#wait > 0) await this.#waitForRenewal()
    // queued before the slot is given back, or another call would take it
    const entering = this.#call.admit(true)
    this.#leave()
    return withOwnError(entering)
  }

  async follow(call: AdmitOptions = {}): Promise<Pass> {
    const entering = beginCall(this.#api, call, (pass) => pass, this.#call)
    this.release()
    return withOwnError(entering)
  }

  release(failure?: unknown): void {
    if (this.#isOver) return
    if (failure !== undefined && !this.#call.isRight) this.#isSent = false
    this.#leave()
    this.#call.ended()
    this.#call.record?.finish(failure)
  }

  #judge(report: Report, isLimited: boolean): Verdict {
    const { rejections, refuses } = this.#api
    const { resends } = this.#call
    if (isLimited) {
      if (!this.#mayResend || !this.#mayWait) return 'final'
      resends.push('limited')
      return 'again'
    }
    if (refuses(report)) return this.#afterRejection()
    // an error of the server says nothing about the token, nor does a 401 for another reason
    if (report.status < 500 && report.status !== 401) rejections.accepted(this.#token, this.#refusedSince)
    return 'final'
  }

  #afterRejection(): Verdict {
    const { token, rejections } = this.#api
    const mayResend = this.#mayResend && !this.#call.isRetried
    const wasCurrent = token.held.token === this.#token
    const wait = rejections.refused(this.#token, { mayResend, maxWait: token.maxWait })
    if (wait === undefined || !mayResend) {
      rejections.reportFinal(this.#token)
      return 'final'
    }
    this.#wait = wait
    this.#call.isRetried = true
    this.#call.resends.push(wasCurrent ? this.#reason : 'replaced')
    return 'again'
  }

  get #reason(): ResendReason {
    return this.#api.token.held.token === this.#token ? 'retried' : 'rejected'
  }

  /** Whether a call that was refused for a limit waits: a manager that closes does not, and the API must accept some. */
  get #mayWait(): boolean {
    const { callsUnderWay, queue } = this.#api
    return !callsUnderWay.closed && queue?.givesUp(this.#call) === false
  }

  /** Whether body, call and API allow another attempt, and it is not too late for one. */
  get #mayResend(): boolean {
    const { queue } = this.#api
    const { method = '', replayable = true, resend = this.#api.resend } = this.#call.options
    // after a longer pause, the response would come too late for the caller
    if (!replayable || queue?.isPausedTooLong === true) return false
    return typeof resend === 'boolean' ? resend : resend.includes(method)
  }

  async #waitForRenewal(): Promise<void> {
    const { options, resends, record } = this.#call
    const measured = record?.measure()
    try {
      await this.#api.rejections
        .waitForRenewal(this.#wait, this.#token, options.signal ?? undefined)
        .finally(measured)
      resends.splice(-1, 1, this.#reason)
    } catch (reason) {
      // the client has nothing left to release: the next pass was to take the place of this one
      this.release(reason)
      throw reason
    }
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#leaveQueue()
    this.#api.callsUnderWay.left()
  }

  #leaveQueue(): void {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) this.#api.queue?.leave(running, this.#isSent)
  }

  // keeps `authorization` out of logs
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[pass]'
  }
}
