import { Random } from '../../../../tools/testing/src/random.ts'
import { createTokenManager, isTokenlaneError, type Api } from '../../src/index.ts'
import { SimulatedIssuer } from './simulated-issuer.ts'
import { VirtualClock } from './virtual-clock.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** The longest that a failure can make calls fail at once: what Retry-After may ask for, and a refusal is shorter. */
const longestMemory = 5 * minute

/** What happened in one client-year, or in several together. */
export interface YearFigures {
  calls: number
  /** Calls that waited for a token. */
  waited: number
  /** The longest wait of a call that was sent, in milliseconds. */
  longestWait: number
  /** Calls that failed for want of a token. */
  lost: number
  requests: number
  issued: number
  faults: number
  refusals: number
  outages: number
  rotations: number
  revocations: number
}

/**
 * Simulates one process for a year of its life: calls at its own rhythm, an issuer with outages, rotations and
 * revocations, a wall clock that is set now and then.
 *
 * @throws Error what must not happen: an expired token is sent; a call fails though the issuer has been well for long
 * enough; a try comes before `retryIn`; a token is requested without need; an idle process has a timer.
 */
export async function simulateYear(seed: number): Promise<YearFigures> {
  const clock = new VirtualClock()
  const random = new Random(seed)
  const drawn = Math.random
  clock.install()
  Math.random = new Random(seed + 1).next
  try {
    return await new ClientYear(clock, random).run()
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
  } finally {
    Math.random = drawn
    clock.uninstall()
  }
}

class ClientYear {
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #issuer: SimulatedIssuer
  readonly #figures = { calls: 0, waited: 0, longestWait: 0, lost: 0 }
  /** The first one; what follows may follow from it. */
  readonly #violations: string[] = []
  #underWay = 0
  #rejected = 0
  #earliest = 0
  #wallJumps = 0

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock
    this.#random = random
    this.#issuer = new SimulatedIssuer(clock, random)
  }

  async run(): Promise<YearFigures> {
    const url = 'https://api.example.com/'
    const tokens = createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: () => this.#issuer.credentials,
        },
      },
      apis: [{ baseUrl: url, issuer: 'general' }],
      observe: (event) => {
        if (event.type === 'renewal.failed' && event.code !== 'TOKEN_REQUEST_REFUSED')
          this.#earliest = this.#clock.now + event.retryIn
        if (event.type === 'token.renewed') this.#earliest = 0
        if (event.type === 'token.rejected') {
          this.#rejected += 1
          // a call without a token does not wait for our own spacing
          this.#earliest = 0
        }
      },
      fetch: async (_url, init) => {
        if (this.#clock.now < this.#earliest) this.#violated('a try before `retryIn` is over')
        return this.#issuer.respond(init)
      },
    })
    const api = tokens.route(url) as Api
    const batch = this.#random.pick([1, 1, 1, 5, 50])
    const meanGap = this.#random.logUniform(2 * minute, 2 * hour) * Math.sqrt(batch)
    let setWallAt = this.#random.exponential(60 * day)
    while (this.#clock.now < 365 * day) {
      for (let call = 0; call < batch; call += 1) void this.#call(api)
      await this.#clock.settle()
      await this.#clock.pass(this.#random.exponential(meanGap))
      if (this.#underWay === 0 && this.#clock.timers > 0) await this.#mustBecomeIdle()
      if (this.#clock.now > setWallAt) {
        this.#clock.setWall(this.#random.pick([-1, 1]) * this.#random.logUniform(second, 3 * hour))
        setWallAt += this.#random.exponential(60 * day)
        this.#wallJumps += 1
      }
      if (this.#violations.length > 0) throw new Error(this.#violations.join('\n'))
    }
    await this.#clock.pass(longestMemory)
    await tokens.close()
    if (this.#clock.timers > 0) this.#violated('a closed process has timers')
    if (this.#underWay > 0) this.#violated('calls never ended')
    this.#mustBeNeeded()
    if (this.#violations.length > 0) throw new Error(this.#violations.join('\n'))
    const { requests, issued, faults, refusals, outages, rotations, revocations } = this.#issuer
    return { ...this.#figures, requests, issued, faults, refusals, outages, rotations, revocations }
  }

  async #call(api: Api): Promise<void> {
    const figures = this.#figures
    const { now } = this.#clock
    const wasWell = this.#issuer.wellFor(longestMemory)
    figures.calls += 1
    this.#underWay += 1
    try {
      await api.send(async (authorization) => {
        const found = this.#issuer.judge(authorization.slice('Bearer '.length))
        if (found === 'expired') this.#violated('an expired token was sent')
        const status = found === 'live' ? 200 : 401
        return { status, result: status, discard() {} }
      })
      const waited = this.#clock.now - now
      if (waited > 0) figures.waited += 1
      figures.longestWait = Math.max(figures.longestWait, waited)
    } catch (error) {
      figures.lost += 1
      if (!isTokenlaneError(error)) this.#violated(`a call failed with ${String(error)}`)
      else if (wasWell && this.#issuer.wellFor(longestMemory))
        this.#violated(`a call failed though the issuer is well: ${error.message}`)
    } finally {
      this.#underWay -= 1
    }
    if (this.#clock.now - now > 16 * second) this.#violated(`a call took ${this.#clock.now - now} ms`)
  }

  /** A background renewal may be under way, for the time of a request. */
  async #mustBecomeIdle(): Promise<void> {
    await this.#clock.pass(16 * second)
    if (this.#clock.timers > 0) this.#violated(`${this.#clock.timers} timers in an idle process`)
  }

  /** One token per lifetime, and one more for each that an API refused or a jump of the wall clock ended. */
  #mustBeNeeded(): void {
    const lifetimes = this.#clock.now / (0.9 * hour)
    const allowed = lifetimes + this.#rejected + this.#wallJumps + 1
    if (this.#issuer.issued > allowed)
      this.#violated(`${this.#issuer.issued} tokens were issued, ${Math.floor(allowed)} were needed`)
  }

  #violated(what: string): void {
    if (this.#violations.length === 0) this.#violations.push(`${what} (day ${this.#clock.now / day})`)
  }
}
