import type { ResendReason } from '../events.ts'
import type { Turn } from '../queue/queued-calls.ts'
import { AccessToken } from '../token/access-token.ts'
import type { AdmitOptions, Exchange, Pass, Report, SendOptions, Verdict } from './api.ts'
import { refusesToken } from './bearer-challenge.ts'
import type { CallRecord } from './call-record.ts'
import { dropRefused, dropWhenDue, reportRepeated } from './forced-renewals.ts'
import { mayResend, Resends } from './resends.ts'
import { type CallContext, enter, leaveUnsent, waitSignalOf } from './take-turn.ts'

/**
 * The send rule: waits for a slot, makes sure of a live token, waits for a permit and sends; on a 401 renews once and
 * sends once more.
 */
export function sendCall<T>(
  api: CallContext,
  attempt: (authorization: string) => Promise<Exchange<T>>,
  options: SendOptions,
  record?: CallRecord,
): Promise<T> {
  if (options.pass !== undefined) return sendWith(options.pass, attempt, options)
  const begin = (turn: Turn | AccessToken): Promise<T> =>
    sendWith(new AttemptPass(api, options, turn, record), attempt, options)
  const refuse = (error: unknown): Promise<never> => {
    leaveUnsent(api, record, error)
    options.failed?.(error)
    return Promise.reject(error)
  }
  try {
    const turn = enter(api, options, record)
    // where an async function waits, it holds room for all that it names: 899 bytes a queued call, instead of 699
    return turn instanceof Promise ? turn.then(begin, refuse) : begin(turn)
  } catch (error) {
    return refuse(error)
  }
}

/** Sends a call whose turn has come. */
async function sendWith<T>(
  first: Pass,
  attempt: (authorization: string) => Promise<Exchange<T>>,
  options: SendOptions,
): Promise<T> {
  let pass = first
  try {
    for (;;) {
      // the signal may have aborted between the token's arrival and our turn
      options.signal?.throwIfAborted()
      pass.sent()
      const exchange = await attempt(pass.authorization)
      if (pass.report(exchange) === 'final') {
        // read first: it follows redirects, for which `close` waits, as it does for the pass
        const { result } = exchange
        pass.release()
        return result
      }
      await discard(exchange)
      pass = await pass.next()
    }
  } catch (error) {
    pass.release(error)
    options.failed?.(error)
    throw error
  }
}

/**
 * Returns the pass of one attempt, the first of a call or the one after `before`: without a promise where nothing has to
 * be waited for, which saves ky and got 4 promises a call. Every failure is a rejection.
 */
export function admitCall(
  api: CallContext,
  options: AdmitOptions,
  record?: CallRecord,
  before?: AttemptPass,
): AttemptPass | Promise<AttemptPass> {
  try {
    const turn = enter(api, options, record, before !== undefined)
    if (!(turn instanceof Promise)) return new AttemptPass(api, options, turn, record, before)
    return admittedLater(api, options, turn, record, before)
  } catch (error) {
    leaveUnsent(api, record, error)
    return Promise.reject(error)
  }
}

async function admittedLater(
  api: CallContext,
  options: AdmitOptions,
  turn: Promise<Turn | AccessToken>,
  record: CallRecord | undefined,
  before: AttemptPass | undefined,
): Promise<AttemptPass> {
  let pass: AttemptPass
  try {
    pass = new AttemptPass(api, options, await turn, record, before)
  } catch (error) {
    leaveUnsent(api, record, error)
    throw error
  }
  return unlessAborted(pass, options.signal)
}

/** The right to send one attempt of a call, and what the call has done before. */
class AttemptPass implements Pass {
  readonly #api: CallContext
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
  #resends: Resends | undefined
  #isSent = false
  #isOver = false

  constructor(
    api: CallContext,
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
    this.#resends = before.#resends
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
    const options =
      signal === undefined ? this.#options : { ...this.#options, signal, waitSignal: () => signal }
    if (this.#renewalIn > 0) await this.#renewal(waitSignalOf(options))
    const entering = admitCall(this.#api, options, this.#record, this)
    // queued first, or another call would take the slot
    this.#leave()
    return unlessAborted(await entering, options.signal)
  }

  release(failure?: unknown): void {
    if (this.#isOver) return
    if (this.#isSent && failure !== undefined && isRefusal(failure, this.#options)) {
      this.#isSent = false
      this.#record?.unsent()
    }
    this.#leave()
    this.#record?.finish(failure)
  }

  #judge(report: Report, isLimited: boolean): Verdict {
    if (isLimited) return this.#resend('limited')
    if (report.status === 401) return this.#afterRejection(report)
    // an error of the server says nothing about the token
    if (report.status < 500) this.#api.rejections.accepted(this.#token, this.#epoch, this.#wasRenewed)
    return 'final'
  }

  #afterRejection({ wwwAuthenticate }: Report): Verdict {
    const { token, rejections } = this.#api
    if (!refusesToken(wwwAuthenticate)) return 'final'
    if (!token.isCurrent(this.#token)) return this.#resend('replaced')
    const wait = rejections.untilRenewal(this.#token, this.#wasRenewed)
    if (wait === undefined) {
      reportRepeated(this.#api, this.#token)
      return 'final'
    }
    if (wait === 0) {
      dropRefused(this.#api, this.#token)
      this.#wasRenewed = true
    }
    this.#renewalIn = wait
    return this.#resend('rejected')
  }

  #resend(reason: ResendReason): Verdict {
    if (!mayResend(this.#options, this.#api.resend)) return 'final'
    // a late response would not help the caller
    if (this.#api.queue?.isPausedTooLong === true) return 'final'
    this.#resends ??= new Resends()
    if (!this.#resends.add(reason)) return 'final'
    this.#record?.resends.push(reason)
    return 'again'
  }

  /** Waits for a renewal that is not due yet. */
  async #renewal(signal: AbortSignal | undefined): Promise<void> {
    try {
      const dropping = dropWhenDue(this.#api, this.#token, this.#renewalIn, signal)
      this.#wasRenewed = await (this.#record?.timeToken(dropping) ?? dropping)
    } catch (reason) {
      // the client has nothing left to release: the next pass was to take the place of this one
      this.release(reason)
      throw reason
    }
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
function unlessAborted<T extends Pass>(pass: T, signal: AbortSignal | null | undefined): T {
  if (signal?.aborted !== true) return pass
  pass.release(signal.reason)
  throw signal.reason as Error
}

/** Whether the client refused the request itself, before it sent anything. */
function isRefusal(failure: unknown, options: AdmitOptions): boolean {
  try {
    options.validate?.()
    return false
  } catch (refusal) {
    return String(refusal) === String(failure)
  }
}

async function discard(exchange: Exchange<unknown>): Promise<void> {
  try {
    await exchange.discard()
  } catch {
    // the response is unwanted, and so is its failure
  }
}
