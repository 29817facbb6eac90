import type { Random } from '../../../../../tools/testing/src/random.ts'
import type { ResponseHead } from '../../../src/limits/rate-limit-headers.ts'
import type { VirtualClock } from '../virtual-clock.ts'

/** What a service does with tokens; times in milliseconds. */
export interface Manner {
  /** Share of the calls that are refused whatever their token, 0 to 1. */
  readonly refusesAtRandom?: number
  /** Each call comes to one of these nodes at random, the first of which refuses every token. */
  readonly nodes?: number
  /** Calls go to these endpoints by turns, the first of which refuses every token. */
  readonly endpoints?: number
  /** Until this time every token is refused. */
  readonly startsAt?: number
  /** For how long after its issue a token is refused. */
  readonly refusesNewFor?: number
  /** By how much the API's clock is behind: by this clock, and with its `Date`, it refuses a token before its `nbf`. */
  readonly clockBehind?: number
  /** Whether the first token is known at once all the same. */
  readonly knowsFirst?: boolean
  /** How often the issuer signs with another key: of its tokens, only the first one is new in this sense. */
  readonly newKeyEvery?: number
  /** Each call comes to one of these at random, and the first one knows a new token at once, the last one after all of that time. */
  readonly replicas?: number
  /** How long after its issue a token is refused again, whatever its lifetime. */
  readonly refusesOldAfter?: number
  /** For how long a token is issued, an hour if nothing is said. */
  readonly lifetime?: number
  /** When the process renews ahead of expiry, as the option says. */
  readonly renewBefore?: number
  /** How often all tokens are revoked. */
  readonly revokesEvery?: number
  /** Whether a token ends when the next one is issued. */
  readonly oneLive?: boolean
  /** Calls go by turns to two APIs, each of which takes the tokens of its own issuer: how many get the other one's. */
  readonly wrongIssuers?: 'one' | 'both'
  /** How long a token request takes, about. */
  readonly issuerTakes?: number
}

/** How long a call takes, about, and a token request where nothing is said. */
const usual = 25

/** A `Date`, at a time of the simulation. */
const dateAt = (now: number): string => new Date(Date.UTC(2026, 10, 21) + now).toUTCString()

/** Where a call goes. */
interface Place {
  /** Whose tokens its API takes. */
  readonly issuer: 'general' | 'other'
  readonly endpoint: number
}

/** Issuers and APIs of a given manner. */
export class RefusingService {
  /** When each token request came, by issuer. */
  readonly requests: Readonly<Record<string, number[]>> = { general: [], other: [] }
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #manner: Manner
  readonly #issuedAt: number[] = []
  #calls = 0

  constructor(clock: VirtualClock, random: Random, manner: Manner) {
    this.#clock = clock
    this.#random = random
    this.#manner = manner
  }

  readonly fetch = async (tokenEndpoint: string | URL | Request): Promise<Response> => {
    const { issuerTakes = usual, lifetime = 3_600_000 } = this.#manner
    const issuer = new URL(
      tokenEndpoint instanceof Request ? tokenEndpoint.url : tokenEndpoint,
    ).pathname.slice(1)
    this.requests[issuer]?.push(this.#clock.now)
    await this.#travel(issuerTakes)
    const token = `${issuer}-${this.#issuedAt.push(this.#clock.now) - 1}`
    await this.#travel(issuerTakes)
    const issued = { access_token: token, token_type: 'Bearer', expires_in: lifetime / 1_000 }
    return Response.json(issued, { headers: { date: dateAt(this.#issuedAt.at(-1) as number) } })
  }

  /** Returns where the next call goes: to the API of this issuer, and which of its endpoints. */
  nextPlace(): Place {
    const { endpoints = 1, wrongIssuers } = this.#manner
    this.#calls += 1
    const issuer = wrongIssuers === undefined || this.#calls % 2 === 0 ? 'general' : 'other'
    return { issuer, endpoint: this.#calls % endpoints }
  }

  /** Returns what an API says in one exchange. */
  async call(place: Place, authorization: string): Promise<ResponseHead> {
    await this.#travel(usual)
    const [issuer, token] = authorization.replace('Bearer ', '').split('-')
    const status = issuer === place.issuer && this.#takes(place.endpoint, Number(token)) ? 200 : 401
    const date = dateAt(this.#clock.now - (this.#manner.clockBehind ?? 0))
    await this.#travel(usual)
    return { status, header: (name) => (name === 'date' ? date : null) }
  }

  #takes(endpoint: number, token: number): boolean {
    const { refusesAtRandom = 0, nodes, endpoints, startsAt = 0, oneLive = false } = this.#manner
    const { refusesOldAfter = Infinity, revokesEvery } = this.#manner
    const { now } = this.#clock
    const issuedAt = this.#issuedAt[token] ?? now
    if (now < startsAt || this.#random.chance(refusesAtRandom)) return false
    if (nodes !== undefined && this.#random.chance(1 / nodes)) return false
    if (endpoints !== undefined && endpoint === 0) return false
    if (oneLive && token !== this.#issuedAt.length - 1) return false
    if (revokesEvery !== undefined && Math.floor(issuedAt / revokesEvery) < Math.floor(now / revokesEvery))
      return false
    return now >= this.#knownAt(token) && now - issuedAt < refusesOldAfter
  }

  /** Returns when the place of a call knows a token. */
  #knownAt(token: number): number {
    const { refusesNewFor = 0, clockBehind = 0, knowsFirst = false, newKeyEvery, replicas } = this.#manner
    if (refusesNewFor + clockBehind === 0 || (knowsFirst && token === 0)) return 0
    const keyOf = (at: number): number => Math.floor(at / (newKeyEvery ?? 1))
    const issuedAt = this.#issuedAt[token] ?? 0
    // an `nbf` is in whole seconds
    if (clockBehind > 0) return Math.floor(issuedAt / 1_000) * 1_000 + clockBehind
    const first =
      newKeyEvery === undefined
        ? issuedAt
        : (this.#issuedAt.find((at) => keyOf(at) === keyOf(issuedAt)) as number)
    const share = replicas === undefined ? 1 : Math.floor(this.#random.next() * replicas) / (replicas - 1)
    return first + share * refusesNewFor
  }

  /** Half of an exchange. */
  #travel(takes: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, takes * this.#random.logUniform(0.2, 1)))
  }
}
