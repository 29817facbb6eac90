import type { AdmitOptions, Api, ApiStatus, Exchange, Pass, SendOptions } from './api.ts'
import { CallRecord } from './call-record.ts'
import { closedError } from '../errors.ts'
import { refuse } from '../options/check.ts'
import { ApiQueue } from '../queue/api-queue.ts'
import type { FairTurns } from '../queue/fair-turns.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'
import type { CheckedPolicy } from '../queue/rate-policy.ts'
import { admitCall, sendCall } from './send-rule.ts'
import type { CallContext } from './take-turn.ts'

export interface ProtectedApiOptions extends Omit<CallContext, 'queue'> {
  /** `undefined`: calls wait for a token only. */
  readonly ratePolicy: CheckedPolicy | undefined
  readonly limiter?: RateLimiterFactory | undefined
  /** The budget that tenants share; `undefined`: this API has one to itself. */
  readonly shared?: FairTurns | undefined
}

/** One API of a manager: what its calls share, and what can be asked of it and set. */
export class ProtectedApi implements Api {
  readonly baseUrl: string
  readonly issuer: string
  readonly #context: CallContext

  constructor({
    baseUrl,
    issuer,
    token,
    place,
    rejections,
    resend,
    callsUnderWay,
    emit,
    ...own
  }: ProtectedApiOptions) {
    const { ratePolicy, limiter, shared } = own
    this.baseUrl = baseUrl
    this.issuer = issuer
    const queue =
      ratePolicy && new ApiQueue({ api: baseUrl, policy: ratePolicy, token, emit, limiter, shared })
    // each by its name: a spread takes twice the memory
    this.#context = { baseUrl, issuer, place, token, rejections, resend, callsUnderWay, emit, queue }
  }

  send<T>(attempt: (authorization: string) => Promise<Exchange<T>>, options: SendOptions = {}): Promise<T> {
    const record = options.pass === undefined ? this.#recordOf(options) : undefined
    if (record === undefined) return sendCall(this.#context, attempt, options)
    return record.begin(() => sendCall(this.#context, attempt, options, record))
  }

  async admit(options?: AdmitOptions): Promise<Pass> {
    return this.admitNow(options)
  }

  admitNow(options: AdmitOptions = {}): Pass | Promise<Pass> {
    const record = this.#recordOf(options)
    if (record === undefined) return admitCall(this.#context, options)
    return record.begin(() => admitCall(this.#context, options, record))
  }

  get mayWait(): boolean {
    const { queue, token, callsUnderWay } = this.#context
    return queue !== undefined || callsUnderWay.closed || token.live() === undefined
  }

  keepOpen(): () => void {
    const { callsUnderWay } = this.#context
    callsUnderWay.entered()
    let isOver = false
    return () => {
      if (!isOver) callsUnderWay.left()
      isOver = true
    }
  }

  /** Whether a new object for this API would send as many calls now: the limits are unused, and the API is not paused. */
  get isUnspent(): boolean {
    return this.#context.queue?.isUnspent ?? true
  }

  status(): ApiStatus {
    return { baseUrl: this.baseUrl, issuer: this.issuer, ...this.#context.queue?.status() }
  }

  /** Lifts a pause that the API asked for. */
  resume(): void {
    this.#context.queue?.resume()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if there is no rate policy to change, or if its limiter cannot. */
  setRatePolicy(policy: CheckedPolicy): void {
    const { queue } = this.#context
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
    this.#context.queue?.close(closedError(this.baseUrl))
  }

  /** Ends what the queue holds, after the last call. */
  async ended(): Promise<void> {
    await this.#context.queue?.ended()
  }

  #recordOf({ client }: AdmitOptions): CallRecord | undefined {
    return CallRecord.of(this, client, this.#context.emit)
  }
}
