import type { AdmitOptions, Api, ApiStatus, Exchange, Pass, Report, SendOptions } from '../send/api.ts'
import type { CallCounts } from './call-counts.ts'
import type { CallsUnderWay } from '../send/calls-under-way.ts'
import type { Emit } from '../events.ts'
import type { FakeToken } from './fake-token.ts'
import type { LimitedApi } from '../queue/limiter-factory.ts'
import type { Permit, RateLimiter } from '../queue/rate-limiter.ts'
import type { CheckedPolicy } from '../queue/rate-policy.ts'
import { ProtectedApi } from '../send/protected-api.ts'

export interface FakeApiSettings {
  readonly baseUrl: string
  readonly issuer: string
  readonly place: number
  readonly ratePolicy: CheckedPolicy
  readonly resend: boolean | readonly string[]
  readonly token: FakeToken
  readonly callsUnderWay: CallsUnderWay
  readonly emit: Emit
}

const permit: Permit = { answered() {}, ended() {}, cancel() {} }

/**
 * One API of a fake manager. Calls go through the real send rule and the real queue; only that they wait is left out.
 * They wait for as long as the API is held, and for nothing else.
 */
export class FakeApi implements Api {
  readonly baseUrl: string
  readonly issuer: string
  readonly token: FakeToken
  readonly #api: ProtectedApi
  /** How often the API is held at this moment. */
  #holds = 0
  #unitsAvailable: (() => void) | undefined
  #refusals = 0
  #calls = 0
  #sends = 0

  constructor(settings: FakeApiSettings) {
    this.baseUrl = settings.baseUrl
    this.issuer = settings.issuer
    this.token = settings.token
    this.#api = new ProtectedApi({
      ...settings,
      ratePolicy: withoutPauses(settings.ratePolicy),
      limiter: (limited) => this.#limiter(limited),
      // every 401 renews the token at once, but once for each call
      rejections: {
        epoch: 0,
        untilRenewal: (_, wasRenewed) => (wasRenewed ? undefined : 0),
        renewed() {},
        accepted() {},
        isRepeated: () => true,
      },
    })
  }

  async send<T>(
    attempt: (authorization: string) => Promise<Exchange<T>>,
    options: SendOptions = {},
  ): Promise<T> {
    const failed = (reason: unknown): void => options.failed?.(reason)
    const pass = options.pass ?? (await this.#passFor(options))
    return this.#api.send(attempt, { ...options, failed, pass })
  }

  async admit(options: AdmitOptions = {}): Promise<Pass> {
    if (options.sentBefore !== true) this.#calls += 1
    return this.#counted(await this.#api.admit(options))
  }

  admitNow(options?: AdmitOptions): Promise<Pass> {
    return this.admit(options)
  }

  /** A call is counted when it is admitted. */
  get mayWait(): boolean {
    return true
  }

  keepOpen(): () => void {
    return this.#api.keepOpen()
  }

  status(): ApiStatus {
    return this.#api.status()
  }

  counts(): CallCounts {
    return { calls: this.#calls, sends: this.#sends, queued: this.#api.status().queued ?? 0 }
  }

  /** Takes the response to the next attempt for a 401. */
  refuseOnce(): void {
    this.#refusals += 1
  }

  /** Lets no call go, until what comes back was called. */
  hold(): () => void {
    this.#holds += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#holds -= 1
      this.#unitsAvailable?.()
    }
  }

  setRatePolicy(policy: CheckedPolicy): void {
    this.#api.setRatePolicy(withoutPauses(policy))
  }

  close(): void {
    this.#api.close()
  }

  async #passFor(options: SendOptions): Promise<Pass> {
    try {
      return await this.admit(options)
    } catch (reason) {
      options.failed?.(reason)
      throw reason
    }
  }

  #counted(pass: Pass): Pass {
    let isSent = false
    const sent = (): void => {
      if (!isSent) this.#sends += 1
      isSent = true
    }
    return {
      get authorization() {
        return pass.authorization
      },
      sent() {
        sent()
        pass.sent()
      },
      report: (report) => {
        sent()
        return pass.report(this.#refused() ? refusal : report)
      },
      next: async (options) => this.#counted(await pass.next(options)),
      release: (failure) => pass.release(failure),
    }
  }

  #refused(): boolean {
    if (this.#refusals === 0) return false
    this.#refusals -= 1
    return true
  }

  #limiter(limited: LimitedApi): RateLimiter {
    this.#unitsAvailable = () => limited.unitsAvailable()
    return {
      take: () => (this.#holds > 0 ? Infinity : permit),
      // above 0, so that a held call counts as one that must wait
      forecast: () => (this.#holds > 0 ? Number.MIN_VALUE : 0),
      setPolicy() {},
    }
  }
}

const refusal: Report = { status: 401, wwwAuthenticate: 'Bearer error="invalid_token"' }

/** What was refused for a limit goes again at once. */
function withoutPauses(policy: CheckedPolicy): CheckedPolicy {
  return { ...policy, longestPause: 0 }
}
