import { createTokenManager, type RateLimit, type TokenManager } from '@tokenlane/core'
import type { RateLimiterFactory } from '@tokenlane/core/fleet'

const baseUrl = 'https://api.example.com/'

/** A fleet whose processes always have calls, and an API that counts every arrival. */
export interface RateFleetOptions {
  readonly size: number
  readonly limits: readonly RateLimit[]
  readonly spread?: boolean
  /** How many calls of each process wait or are under way at any time. */
  readonly depth: number
  /** How long the API takes, in milliseconds. */
  readonly apiTime: () => number
  /** The limiter of the process with this index. */
  readonly limiter: (index: number) => RateLimiterFactory
}

/** What arrived, and from which process. */
interface Arrival {
  readonly at: number
  readonly process: number
}

/** What a fleet did in a span of time. */
export interface RateResult {
  readonly calls: number
  /** The most arrivals in any window of the first limit. */
  readonly most: number
  /** Arrivals beyond a quota. */
  readonly over: number
  readonly perProcess: readonly number[]
  /** 1 if all processes got the same. */
  readonly jain: number
  readonly idle: number
}

export class RateFleet implements AsyncDisposable {
  readonly arrivals: Arrival[] = []
  readonly events: { type: string; process: number; at: number; reason?: string }[] = []
  lost = 0
  readonly #options: RateFleetOptions
  readonly #managers: TokenManager[]
  #isOver = false
  readonly #ended: Promise<unknown>

  constructor(options: RateFleetOptions) {
    this.#options = options
    this.#managers = Array.from({ length: options.size }, (_, index) => this.#manager(index))
    this.#ended = Promise.all(
      this.#managers.flatMap((tokens, index) =>
        Array.from({ length: options.depth }, () => this.#work(tokens, index)),
      ),
    )
  }

  /** What arrived since `from`. */
  result(from = 0): RateResult {
    const counted = this.arrivals.filter(({ at }) => at >= from)
    const perProcess = Array.from({ length: this.#options.size }, () => 0)
    for (const { process } of counted) perProcess[process] = (perProcess[process] ?? 0) + 1
    const [first] = this.#options.limits
    return {
      calls: counted.length,
      most: mostIn(counted, first?.window ?? 0),
      over: Math.max(...this.#options.limits.map((limit) => overOf(this.arrivals, limit))),
      perProcess,
      jain: jainOf(perProcess),
      idle: perProcess.filter((count) => count === 0).length,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#managers.map((tokens) => tokens.close()))
    await this.#ended
  }

  #manager(process: number): TokenManager {
    const { limits, spread = false, limiter } = this.#options
    return createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'client', clientSecret: 'secret' },
        },
      },
      // all of them and the API share this one process, and stand still together
      apis: [
        { baseUrl, issuer: 'general', ratePolicy: { limits: [...limits], spread, unansweredGrace: 60_000 } },
      ],
      fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 36_000 }),
      limiter: limiter(process),
      observe: (event) => {
        const { type } = event
        const reason = type === 'limiter.failed' ? { reason: event.reason } : {}
        if (type.startsWith('limiter.')) this.events.push({ type, process, at: performance.now(), ...reason })
      },
    })
  }

  async #work(tokens: TokenManager, process: number): Promise<void> {
    const api = tokens.route(baseUrl)
    const attempt = async () => {
      const time = this.#options.apiTime()
      await pass(time / 2)
      this.arrivals.push({ at: performance.now(), process })
      await pass(time / 2)
      return { status: 200, result: undefined, discard() {} }
    }
    while (!this.#isOver) {
      try {
        await api?.send(attempt)
      } catch {
        if (!this.#isOver) this.lost += 1
      }
    }
  }
}

export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function mostIn(arrivals: readonly Arrival[], window: number): number {
  let most = 0
  let first = 0
  for (const [index, { at }] of arrivals.entries()) {
    while (at - (arrivals[first]?.at ?? 0) > window) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}

/** A strict server counts every call, and those beyond the quota of any window are over. */
function overOf(arrivals: readonly Arrival[], { quota, window }: RateLimit): number {
  return arrivals.slice(quota).filter(({ at }, index) => at - (arrivals[index]?.at ?? 0) <= window).length
}

function jainOf(counts: readonly number[]): number {
  const sum = counts.reduce((total, count) => total + count, 0)
  const squares = counts.reduce((total, count) => total + count * count, 0)
  return squares === 0 ? 1 : sum ** 2 / (counts.length * squares)
}
