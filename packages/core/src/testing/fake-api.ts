import type { AdmitOptions, Exchange, Pass, Report, SendOptions } from '../send/api.ts'
import type { CheckedFakeApi } from './fake-options.ts'
import type { FakeIssuer } from './fake-issuer.ts'
import { checkRatePolicy, type CheckedPolicy } from '../queue/rate-policy.ts'
import type { LimitedApi } from '../queue/limiter-factory.ts'
import type { RateLimiter } from '../queue/rate-limiter.ts'
import { refuse } from '../options/check.ts'
import { ProtectedApi, type ProtectedApiOptions } from '../send/protected-api.ts'
import { refusesToken } from '../send/bearer-challenge.ts'

/** What the calls of one API, or of all, have done. */
export interface CallCounts {
  /** Calls that asked to be sent. A call that is sent again counts once. */
  readonly calls: number
  /** Attempts and redirects that were sent. */
  readonly sends: number
  /** Calls that are queued now. */
  readonly queued: number
}

type FakeApiSettings = CheckedFakeApi &
  Pick<ProtectedApiOptions, 'option' | 'callsUnderWay' | 'emit'> & { readonly token: FakeIssuer['token'] }

const none = checkRatePolicy({ limits: [], limitedStatuses: [] }, 'ratePolicy')

/** Every 401 renews the token at once, but once for each call. */
function rejectionsOf(api: Omit<FakeApiSettings, 'ratePolicy'>): ProtectedApiOptions['rejections'] {
  const { token, emit, option } = api
  const names = { issuer: api.issuer, api: api.baseUrl }
  return {
    refusedSince: undefined,
    refused({ token: refused, resends }) {
      if (resends > 0) return undefined
      token.invalidate(refused)
      emit?.({ type: 'token.rejected', ...names })
      return 0
    },
    async wait() {},
    accepted() {},
    reportFinal: () => emit?.({ type: 'rejection.repeated', ...names, option }),
  }
}

/** One API of a fake manager. Its calls wait for as long as it is held, and for nothing else. */
export class FakeApi extends ProtectedApi {
  readonly #steered: Steered
  readonly #isLimited: boolean
  #calls = 0

  constructor({ ratePolicy, ...settings }: FakeApiSettings) {
    const steered = new Steered()
    const refuses = (report: Report): boolean => {
      if (steered.refusals === 0) return refusesToken(report)
      steered.refusals -= 1
      return true
    }
    const limiter = (limited: LimitedApi): RateLimiter => steered.limiterOf(limited)
    const rejections = rejectionsOf(settings)
    super({ ...settings, ratePolicy: withoutPauses(ratePolicy ?? none), limiter, rejections, refuses })
    this.#steered = steered
    this.#isLimited = ratePolicy !== undefined
  }

  override send<T>(
    attempt: (authorization: string) => Promise<Exchange<T>>,
    options?: SendOptions,
  ): Promise<T> {
    if (options?.pass === undefined) this.#calls += 1
    return super.send(attempt, options)
  }

  override admit(options?: AdmitOptions): Pass | Promise<Pass> {
    this.#calls += 1
    return super.admit(options)
  }

  override setRatePolicy(policy: CheckedPolicy): void {
    if (!this.#isLimited) refuse('ratePolicy', 'not set', 'another policy for an API that has one')
    super.setRatePolicy(withoutPauses(policy))
  }

  counts(): CallCounts {
    return { calls: this.#calls, sends: this.#steered.sends, queued: this.status().queued ?? 0 }
  }

  /** Takes the response to the next attempt for a 401. */
  refuseOnce(): void {
    this.#steered.refusals += 1
  }

  /** Lets no call go until `release` with the same object. */
  hold(by: object): void {
    this.#steered.holds.add(by)
  }

  /** Ends one hold, or all of them. */
  release(by?: object): void {
    if (by === undefined) this.#steered.holds.clear()
    else this.#steered.holds.delete(by)
    this.#steered.unitsAvailable()
  }
}

/** What a test steers of an API, and what it counts: its limiter has no limits. */
class Steered {
  /** Who holds the API at this moment. */
  readonly holds = new Set<object>()
  /** Attempts that went, but for those that were given back unsent. */
  sends = 0
  /** How many attempts to come are refused. */
  refusals = 0
  unitsAvailable = (): void => {}

  limiterOf(limited: LimitedApi): RateLimiter {
    this.unitsAvailable = () => limited.unitsAvailable()
    return {
      take: () => {
        if (this.holds.size > 0) return Infinity
        this.sends += 1
        return { answered() {}, ended() {}, cancel: () => (this.sends -= 1) }
      },
      // above 0, so that a held call counts as one that must wait
      forecast: () => (this.holds.size > 0 ? Number.MIN_VALUE : 0),
      setPolicy() {},
    }
  }
}

/** What was refused for a limit goes again at once. */
function withoutPauses(policy: CheckedPolicy): CheckedPolicy {
  return { ...policy, longestPause: 0 }
}
