/// <reference lib="esnext.disposable" preserve="true" />
import type { AdmitOptions, Attempt, Pass, Report, SendOptions } from '../send/api.ts'
import type { CheckedApi } from '../manager/check-apis.ts'
import type { FakeIssuer } from './fake-issuer.ts'
import { checkRatePolicy, type CheckedPolicy } from '../limits/rate-policy.ts'
import { Budget } from '../limits/budget.ts'
import type { LimitedApi, RateLimiter } from '../limits/rate-limiter.ts'
import { ProtectedApi, type ProtectedApiOptions, refuseLatePolicy } from '../send/protected-api.ts'
import { refusesToken } from '../send/bearer-challenge.ts'
import { Rejections } from '../send/rejections.ts'

/** What calls to one API, or to all of them, have done. */
export interface CallCounts {
  /** Calls that asked to be sent. A call that is sent again counts once. */
  readonly calls: number
  /** Attempts and redirects that were sent. */
  readonly sends: number
  /** Calls that are queued now. */
  readonly queued: number
}

/** Calls that are held back in their queue, until they are released. */
export interface Hold extends Disposable {
  /** Resolves when that many calls are queued. */
  queued(calls: number): Promise<void>
  /** Lets the queued calls go, and those that come later. Safe to call again. */
  release(): void
}

type FakeApiSettings = CheckedApi &
  Pick<ProtectedApiOptions, 'option' | 'callsUnderWay' | 'emit'> & {
    readonly token: FakeIssuer['token']
  }

/** A call that was refused for a limit is sent again at once. */
const withoutPauses = { longestPause: 0 }

const none = checkRatePolicy({ limits: [], limitedStatuses: [] }, 'ratePolicy')

/** One API of a fake manager. Its calls wait for as long as it is held, and for nothing else. */
export class FakeApi extends ProtectedApi {
  readonly #isLimited: boolean
  readonly #holds = new Set<object>()
  readonly #serve: () => void
  #calls = 0
  #sends = 0
  #refusals = 0

  constructor({ ratePolicy, ...settings }: FakeApiSettings) {
    let limited: LimitedApi | undefined
    const limiter = (api: LimitedApi): RateLimiter => {
      limited = api
      return {
        take: (_, wanted) => {
          if (wanted === 0 || this.#holds.size > 0) return Infinity
          this.#sends += 1
          return { answered() {}, ended() {}, cancel: () => (this.#sends -= 1) }
        },
        // above 0, so that a held call counts as one that must wait
        forecast: () => (this.#holds.size > 0 ? Number.MIN_VALUE : 0),
        usage: () => ({ used: undefined, lag: 0, arrivesWithin: undefined }),
        tell() {},
        async close() {},
      }
    }
    const refuses = (report: Report, statuses: readonly number[]): boolean => {
      if (this.#refusals === 0) return refusesToken(report, statuses)
      this.#refusals -= 1
      return true
    }
    const rejections = new Rejections(settings, { ended() {}, disproved() {} })
    const checked = { ...(ratePolicy ?? none), ...withoutPauses }
    const budgetOf = (api: string, policy: CheckedPolicy): Budget => new Budget(api, policy, limiter)
    super({ ...settings, ratePolicy: checked, budgetOf, rejections, refuses })
    this.#isLimited = ratePolicy !== undefined
    this.#serve = () => limited?.unitsAvailable()
  }

  override send<T>(attempt: Attempt<T>, options?: SendOptions): Promise<T> {
    if (options?.pass === undefined) this.#calls += 1
    return super.send(attempt, options)
  }

  override admit(options?: AdmitOptions): Pass | Promise<Pass> {
    this.#calls += 1
    return super.admit(options)
  }

  override setRatePolicy(policy: CheckedPolicy): void {
    if (!this.#isLimited) refuseLatePolicy(this.baseUrl)
    super.setRatePolicy({ ...policy, ...withoutPauses })
  }

  counts(): CallCounts {
    return { calls: this.#calls, sends: this.#sends, queued: this.status().queued ?? 0 }
  }

  refuseOnce(): void {
    this.#refusals += 1
  }

  hold(by: object): void {
    this.#holds.add(by)
  }

  release(by?: object): void {
    if (by === undefined) this.#holds.clear()
    else this.#holds.delete(by)
    this.#serve()
  }
}
