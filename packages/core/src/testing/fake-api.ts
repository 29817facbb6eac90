import type { AdmitOptions, Exchange, Pass, Report, SendOptions } from '../send/api.ts'
import type { CallCounts } from './call-counts.ts'
import type { CheckedFakeApi } from './fake-options.ts'
import type { FakeToken } from './fake-token.ts'
import { checkRatePolicy, type CheckedPolicy } from '../queue/rate-policy.ts'
import { HeldLimiter } from './held-limiter.ts'
import { ProtectedApi, type ProtectedApiOptions } from '../send/protected-api.ts'
import { refusesToken } from '../send/bearer-challenge.ts'

type FakeApiSettings = CheckedFakeApi &
  Pick<ProtectedApiOptions, 'index' | 'callsUnderWay' | 'emit'> & { readonly token: FakeToken }

const none = checkRatePolicy({ limits: [], limitedStatuses: [] }, 'ratePolicy')

/** Every 401 renews the token at once, but once for each call. */
const rejections: ProtectedApiOptions['rejections'] = {
  epoch: 0,
  untilRenewal: (_, wasRenewed) => (wasRenewed ? undefined : 0),
  renewed() {},
  accepted() {},
  isRepeated: () => true,
}

/** One API of a fake manager. Its calls wait for as long as it is held, and for nothing else. */
export class FakeApi extends ProtectedApi {
  readonly #limiter: HeldLimiter
  readonly #refusals: { left: number }
  #calls = 0

  constructor({ ratePolicy = none, ...settings }: FakeApiSettings) {
    const limiter = new HeldLimiter()
    const refusals = { left: 0 }
    const refuses = (report: Report): boolean => {
      if (refusals.left === 0) return refusesToken(report)
      refusals.left -= 1
      return true
    }
    super({
      ...settings,
      ratePolicy: withoutPauses(ratePolicy),
      limiter: (limited) => limiter.of(limited),
      rejections,
      refuses,
    })
    this.#limiter = limiter
    this.#refusals = refusals
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
    super.setRatePolicy(withoutPauses(policy))
  }

  counts(): CallCounts {
    return { calls: this.#calls, sends: this.#limiter.sends, queued: this.status().queued ?? 0 }
  }

  /** Takes the response to the next attempt for a 401. */
  refuseOnce(): void {
    this.#refusals.left += 1
  }

  /** Lets no call go, until what comes back was called. */
  hold(): () => void {
    return this.#limiter.hold()
  }
}

/** What was refused for a limit goes again at once. */
function withoutPauses(policy: CheckedPolicy): CheckedPolicy {
  return { ...policy, longestPause: 0 }
}
