import { closedError, errorForCaller, isClosed } from '../errors.ts'
import type { ResendReason } from '../events.ts'
import type { ApiQueue, RefusedCall } from '../queue/api-queue.ts'
import type { RunningCall } from '../queue/queued-calls.ts'
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

/** One call, through all of its attempts. */
export interface Call extends RefusedCall {
  readonly options: AdmitOptions
  readonly resends: ResendReason[]
  /** Whether it was sent again after a 401, also before a redirect. */
  isRetried: boolean
  /** `undefined` if calls are not observed. */
  readonly record: CallRecord | undefined
}

export function beginCall<T>(
  api: CallContext,
  options: AdmitOptions,
  work: (call: Call) => T,
  isRetried = false,
): T {
  const resends: ResendReason[] = []
  const isObserved = api.emit.isObserved || tracing.isObserved
  const record = isObserved ? new CallRecord(api, options, resends) : undefined
  const call: Call = { options, resends, record, isRetried }
  return record === undefined ? work(call) : tracing.begin(record, () => work(call))
}

/**
 * Returns the pass of one attempt: synchronously if nothing has to be awaited. Every failure is a rejection.
 *
 * @param sentBefore whether the call has been sent before: then it goes before queued calls, and is not refused for a full
 * queue or a closing manager.
 */
export function admitCall(api: CallContext, call: Call, sentBefore = false): Pass | Promise<Pass> {
  // counted first: an observer of what follows may close the manager
  api.callsUnderWay.count += 1
  try {
    const entered = enter(api, call, sentBefore)
    if (!(entered instanceof Promise)) return new AttemptPass(api, call, entered)
    return entered.then(
      (running) => new AttemptPass(api, call, running),
      (shared) => refuse(api, call, errorForCaller(shared)),
    )
  } catch (error) {
    return refuse(api, call, error)
  }
}

function refuse(api: CallContext, call: Call, error: unknown): Promise<never> {
  api.callsUnderWay.left()
  call.record?.finish(isEndOfLimited(call, error) ? undefined : error)
  return Promise.reject(error)
}

/** Whether the manager closed while the call waited after a refusal for its limit: then the caller gets that response. */
function isEndOfLimited({ resends }: Call, error: unknown): boolean {
  return resends.at(-1) === 'limited' && isClosed(error)
}

/** What a call holds: slot, token and permit where the API has a rate policy; else the token alone. */
type EnteredCall = RunningCall | AccessToken

export function mustWait({ queue, rejections }: CallContext): boolean {
  return rejections.live() === undefined || queue?.mustWait === true
}

function enter(
  api: CallContext,
  { options, record, resends }: Call,
  sentBefore: boolean,
): EnteredCall | Promise<EnteredCall> {
  const { baseUrl, callsUnderWay, queue, rejections } = api
  const { priority = 0 } = options
  const signal = options.signal ?? undefined
  signal?.throwIfAborted()
  const isLimited = resends.at(-1) === 'limited'
  // the manager may have closed before a client asked for its next attempt
  if (callsUnderWay.closed && (!sentBefore || isLimited)) throw closedError(baseUrl, baseUrl)
  const live = queue === undefined ? rejections.live() : undefined
  if (live !== undefined) return live
  const measured = record?.measure(queue)
  const wait = (until: AbortSignal | undefined): Promise<AccessToken> => {
    const waited = rejections.wait(until)
    return sentBefore ? waited : callsUnderWay.untilClosed(waited, () => closedError(baseUrl, baseUrl))
  }
  const goIn = (until: AbortSignal | undefined): EnteredCall | Promise<EnteredCall> =>
    queue?.enter({ signal: until, priority, sentBefore, isLimited, call: options }) ?? wait(until)
  const { tokenWait } = options
  const entered =
    tokenWait === undefined || !mustWait(api)
      ? goIn(signal)
      : withinTokenWait(tokenWait, { api, signal, start: () => tokenTime(queue) }, goIn)
  return measured && entered instanceof Promise ? entered.finally(measured) : entered
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
    const entering = admitCall(this.#api, this.#call, true)
    this.#leave()
    return entering
  }

  async follow(call: AdmitOptions = {}): Promise<Pass> {
    const admit = (hop: Call): Pass | Promise<Pass> => admitCall(this.#api, hop, true)
    const entering = beginCall(this.#api, call, admit, this.#call.isRetried)
    this.release()
    return entering
  }

  release(failure?: unknown): void {
    if (this.#isOver) return
    this.#leave()
    this.#call.record?.finish(failure)
  }

  #judge(report: Report, isLimited: boolean): Verdict {
    const { rejections, refuses } = this.#api
    if (isLimited) return this.#mayResend && this.#mayWait ? this.#resend('limited') : 'final'
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
    return this.#resend(wasCurrent ? this.#reason : 'replaced')
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

  #resend(reason: ResendReason): Verdict {
    this.#call.resends.push(reason)
    return 'again'
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
