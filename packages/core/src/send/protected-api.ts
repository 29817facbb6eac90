import type { AdmitOptions, Api, ApiStatus, Attempt, Pass, SendOptions } from './api.ts'
import { closedError, withOwnError } from '../errors.ts'
import { defined } from '../events.ts'
import { refuse } from '../options/check.ts'
import { ApiQueue } from '../queue/api-queue.ts'
import type { CheckedPolicy } from '../limits/rate-policy.ts'
import type { BudgetFactory } from '../limits/shared-budgets.ts'
import { ownOptions } from './own-options.ts'
import { AttemptPass, type CallContext } from './pass.ts'
import { sendWith } from './send-rule.ts'

export interface ProtectedApiOptions extends Omit<CallContext, 'queue'> {
  readonly ratePolicy: CheckedPolicy | undefined
  readonly budgetOf: BudgetFactory
}

/** Refuses a policy for an API that has had none: its calls do not pass a queue. */
export function refuseLatePolicy(api: string): never {
  const missing = `missing on ${api}, so none can be set later`
  return refuse('ratePolicy', missing, 'one from the start, even `{ limits: [] }`')
}

export class ProtectedApi implements Api {
  readonly baseUrl: string
  readonly issuer: string
  readonly #context: CallContext
  #hasToldOfKept = false

  constructor({ ratePolicy, budgetOf, ...shared }: ProtectedApiOptions) {
    const { baseUrl, issuer, rejections: token, emit } = shared
    this.baseUrl = baseUrl
    this.issuer = issuer
    const budget = ratePolicy && budgetOf(baseUrl, ratePolicy)
    const queue = budget && new ApiQueue({ api: baseUrl, policy: ratePolicy, token, emit, budget })
    this.#context = { ...shared, queue }
  }

  send<T>(attempt: Attempt<T>, given: SendOptions = {}): Promise<T> {
    const options = ownOptions(given)
    const { pass, signal } = options
    if (pass !== undefined) return sendWith(pass, attempt, signal)
    return new AttemptPass(this.#context, options).begin((admitted) => sendWith(admitted, attempt, signal))
  }

  admit(options: AdmitOptions = {}): Pass | Promise<Pass> {
    return new AttemptPass(this.#context, ownOptions(options)).begin((pass) =>
      pass instanceof Promise ? withOwnError(pass) : pass,
    )
  }

  mustWait(): boolean {
    const { rejections, queue } = this.#context
    return rejections.live() === undefined || queue?.mustWait === true
  }

  kept(status: number): void {
    if (status !== 401 || this.#hasToldOfKept) return
    this.#hasToldOfKept = true
    this.#context.emit({ type: 'authorization.kept', api: this.baseUrl })
  }

  status(): ApiStatus {
    const { baseUrl, issuer, rejections, queue } = this.#context
    return defined({ baseUrl, issuer, refusesTokens: rejections.refusesTokens, ...queue?.status() })
  }

  resume(): void {
    this.#context.queue?.resume()
  }

  setRatePolicy(policy: CheckedPolicy): void {
    const { queue } = this.#context
    if (queue === undefined) refuseLatePolicy(this.baseUrl)
    queue.setPolicy(policy)
  }

  /** Refuses queued calls, and ends what the queue holds after those `underWay`. */
  async close(underWay: Promise<void>): Promise<void> {
    const { queue } = this.#context
    queue?.close(closedError(this.baseUrl, this.baseUrl))
    await underWay
    await queue?.end()
  }
}
