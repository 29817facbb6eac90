import {
  type Claim,
  later,
  type LimitedApi,
  type Moment,
  type NotBefore,
  type Permit,
  type RateLimiter,
  type Usage,
  type Word,
} from '@tokenlane/core/fleet'
import { reasonOf } from '../failure-reason.ts'
import { CountedClaim, keepsNothing } from './counted-claim.ts'
import { type Exchange, type Keeping, type Request, type Response, setOf } from './exchange.ts'
import { FallbackLimiter } from './fallback-limiter.ts'
import { FleetRoundTrips } from './fleet-round-trips.ts'
import type { Link } from './link.ts'
import { Reachability, shortestOutage } from './reachability.ts'
import { RedisRequests } from './redis-requests.ts'
import { longestSince, type Runtime } from './runtime.ts'
import { type Unit, Units } from './units.ts'

/** The least distance of exchanges, and how often a process checks whether a pause was lifted, in milliseconds. */
const apart = 20
const pauseLook = 1_000
/** How long before Redis grants units again shares end, in milliseconds: it grants ahead, and must know of all that was sent. */
const unreported = 500
const mostWants = 100
/** A process that needs a new connection lets others go first for about as long as the set-up may hold a unit. */
const setUpBounds = 5
/** The longest that a word holds, in milliseconds. */
const forGood = 1e12
const never = Number.NEGATIVE_INFINITY

/** What the limiter of one API in one process needs; times in milliseconds. */
export interface FleetLimiterOptions {
  readonly exchange: Exchange
  readonly link: Pick<Link, 'errors' | 'isBypassed' | 'bypass'>
  readonly name: string
  readonly fallbackShare: number
  readonly timeout: number
  readonly reconnectTime: number
  readonly runtime: Runtime
}

interface Want {
  counted: CountedClaim
  /** Granted by Redis, and taken by no attempt yet. */
  readonly grants: Unit[]
  wanted: number
  askAt: number
  isQueued: boolean
  /** As of the last response: units in use, and when the first one is free. */
  used?: readonly number[]
  knownAt: number
  soonestAt: number
}

/**
 * The limiter of one API in one process of a fleet: the budget that all share while Redis responds, the process's own
 * share while it does not, and afterwards until all have returned.
 *
 * A process exchanges with Redis when calls wait for units and some may be free, when Redis must know what became of
 * its units, and when it has a word for the other processes. Each exchange says everything that has happened since.
 */
export class FleetLimiter implements RateLimiter {
  readonly #api: LimitedApi
  readonly #options: FleetLimiterOptions
  readonly #runtime: Runtime
  readonly #wants = new Map<string, Want>()
  readonly #roundTrips = new FleetRoundTrips()
  readonly #units: Units
  readonly #words = new Map<string, Word>()
  readonly #reachability: Reachability
  readonly #fallback: FallbackLimiter
  readonly #requests: RedisRequests<Request, Response>
  #cancelTimer: () => void = () => {}
  #ids = 0
  #lastSentAt = never
  #heard = { epoch: 0, turn: 0, member: 0 }
  #counts: readonly [number, number] = [0, 0]
  /** Redis' clock less that of this process, in milliseconds. */
  #offset = 0
  /** For all claims so far. */
  #keeping: Keeping = keepsNothing
  #isGathering = false
  /** Whether calls have turned out to cost less than they took. */
  #isGivingBack = false
  #pausedUntil = never
  #sharesUntil: Moment = { wall: never, monotonic: never }
  /** When this process last asked because a connection was refused: one node of a Cluster may be gone for long. */
  #noticedAt = never
  readonly #closed = Promise.withResolvers<void>()
  #state: 'open' | 'last' | 'closed' = 'open'

  constructor(api: LimitedApi, options: FleetLimiterOptions) {
    const { exchange, link, fallbackShare, reconnectTime, runtime, timeout } = options
    this.#api = api
    this.#options = options
    this.#runtime = runtime
    this.#units = new Units(runtime, this.#roundTrips, (isGivenBack) => {
      this.#isGivingBack ||= isGivenBack
      if (isGivenBack || this.#isTeaching) this.#askSoon()
      this.#plan()
    })
    this.#reachability = new Reachability(reconnectTime)
    this.#fallback = new FallbackLimiter(fallbackShare, runtime)
    this.#requests = new RedisRequests({
      exchange,
      runtime,
      timeout,
      failed: this.#noteError,
      // a client whose connection is half open hears of no error; one whose Redis is gone does
      silent: () => this.#reachability.isRefused(runtime.now()) || link.bypass(),
      unreachable: (reason) => this.#lose(reason),
      unanswered: () => {
        this.#units.reportBy(never)
        this.#plan()
      },
    })
    link.errors.add(this.#noteError)
  }

  take(claim: Claim, wanted: number): Permit | NotBefore {
    const want = this.#wantOf(claim)
    if (wanted === 0) this.#units.drop(want.grants)
    const permit = wanted === 0 ? Infinity : this.#take(want)
    const isTaken = typeof permit !== 'number'
    want.wanted = isTaken && claim.limits.length === 0 ? 0 : wanted - (isTaken ? 1 : 0)
    this.#plan()
    return permit
  }

  #take({ counted, grants }: Want): Permit | NotBefore {
    const { claim } = counted
    if (claim.limits.length === 0) return this.#takeOwn(counted)
    if (this.#isSharing) {
      const share = this.#fallback.take(claim)
      return typeof share === 'number' ? share : this.#takeOwn(counted, share)
    }
    const wait = this.#units.dueAt(grants) - this.#runtime.now()
    if (wait <= 0) return this.#units.take(grants.shift() as Unit, counted.tellWithin)
    this.#units.arrivals.full()
    return wait
  }

  /** Sends an attempt by this process's own decision, which Redis does not count yet. @param share what is used up with it. */
  #takeOwn({ cost, series, tellWithin }: CountedClaim, share?: Permit): Permit {
    const id = `${this.#options.name}.own.${(this.#ids += 1)}`
    return this.#units.take({ id, series, cost, before: 0 }, { ...tellWithin, sent: 0 }, share)
  }

  /** Returns how long `ahead` attempts take to come, as if the units to come were for this process alone. */
  forecast(claim: Claim, ahead: number, lag: number, from: number = never): number {
    const now = this.#runtime.now()
    if (this.#isSharing) return this.#fallback.forecast(claim, ahead, lag, Math.max(now, from))
    const want = this.#wantOf(claim)
    const count = this.#countOf(want)
    const start = Math.max(now, from, ahead > count ? want.soonestAt : now)
    return start - now + want.counted.forecast(Math.max(0, ahead - count - 1), lag)
  }

  usage(claim: Claim): Usage {
    const { used, knownAt, counted } = this.#wantOf(claim)
    const { lag, bound } = this.#units.arrivals
    const held = [...this.#wants.values()].reduce((sum, want) => sum + this.#countOf(want), 0)
    const isKnown = !this.#isSharing && this.#runtime.now() < knownAt + counted.shortestSpan
    return { used: isKnown ? used : undefined, held, lag, arrivesWithin: bound }
  }

  /** Returns how many units calls may still take. */
  #countOf({ grants }: Want): number {
    this.#units.dueAt(grants)
    return grants.length
  }

  tell(word: Word): void {
    this.#words.set(word.about, word)
    this.#notePause(word)
    this.#askSoon()
    for (const { grants } of this.#wants.values()) this.#units.drop(grants)
    this.#plan()
  }

  /** Whether Redis knows too few round trips on open connections, and the next one may be such. */
  get #isTeaching(): boolean {
    return this.#roundTrips.areMissing && !this.#units.arrivals.isNextFirst(this.#runtime.now())
  }

  /** Called when Redis may not know of free units. */
  #askSoon(): void {
    for (const want of this.#wants.values()) want.askAt = never
  }

  /** Reports what Redis does not know, then ends, also if Redis does not respond in time. */
  close(): Promise<void> {
    this.#options.link.errors.delete(this.#noteError)
    for (const want of this.#wants.values()) {
      want.wanted = 0
      this.#units.drop(want.grants)
    }
    this.#state = 'last'
    const isQueued = [...this.#wants.values()].some((want) => want.isQueued)
    const isNeeded = this.#units.reportAt < Infinity || this.#words.size > 0 || isQueued
    if (this.#reachability.isAway || !isNeeded) this.#end()
    else this.#plan()
    return this.#closed.promise
  }

  get #isSharing(): boolean {
    return !this.#reachability.isTogether || longestSince(this.#sharesUntil, this.#runtime.moment()) < 0
  }

  #wantOf(claim: Claim): Want {
    const known = this.#wants.get(claim.key)
    if (known !== undefined && known.counted.claim.limits === claim.limits) return known
    const counted = new CountedClaim(claim)
    // units that were granted are for these limits too
    if (known !== undefined && JSON.stringify(known.counted.claim) === JSON.stringify(claim))
      return Object.assign(known, { counted })
    this.#roundTrips.areFirstsCompared = claim.accounting === 'strict'
    this.#units.arrivals.setPolicy(claim.accounting, claim.unansweredGrace, counted.longestSpan || Infinity)
    if (known !== undefined) this.#units.drop(known.grants)
    this.#keeping = counted.kept(this.#keeping)
    // there may be a limit for each customer
    if (this.#wants.size > mostWants)
      for (const [key, { wanted, isQueued, grants }] of this.#wants)
        if (wanted === 0 && !isQueued && grants.length === 0) this.#wants.delete(key)
    const asked = { grants: [], wanted: 0, isQueued: false, knownAt: never, soonestAt: never }
    const want = { ...asked, ...known, counted, askAt: never }
    this.#wants.set(claim.key, want)
    return want
  }

  /** Computes again when the next exchange must begin. */
  #plan(): void {
    this.#cancelTimer()
    if (!this.#requests.isFree || this.#isGathering || this.#state === 'closed') return
    const now = this.#runtime.now()
    const at = this.#sendAt(now)
    if (at === Infinity) return
    const wait = (this.#words.size > 0 ? now : Math.max(at, this.#lastSentAt + apart)) - now
    const isIdle = ![...this.#wants.values()].some(({ wanted }) => wanted > 0)
    if (wait > 0)
      this.#cancelTimer = this.#runtime.after(wait, () => this.#plan(), isIdle && this.#state === 'open')
    else void this.#gather()
  }

  #sendAt(now: number): number {
    if (this.#state === 'last' || !this.#reachability.isTogether || this.#words.size > 0) return now
    let at = this.#units.reportAt
    for (const want of this.#wants.values()) {
      const { wanted, isQueued } = want
      if (wanted === 0 && isQueued) return now
      at = Math.min(at, this.#askAtOf(want))
      if (wanted > 0 && now < this.#pausedUntil) at = Math.min(at, this.#lastSentAt + pauseLook)
    }
    return at
  }

  /** Returns when to ask for more units: one that would need a new connection lets other processes go first. */
  #askAtOf(want: Want): number {
    const { wanted, isQueued, askAt } = want
    const count = this.#countOf(want)
    if (wanted <= count) return Infinity
    return askAt + (isQueued && this.#units.warm(count) <= 0 ? setUpBounds * this.#units.arrivals.bound : 0)
  }

  /** Sends a request that says everything that happens in this turn of the event loop. */
  async #gather(): Promise<void> {
    this.#isGathering = true
    await Promise.resolve()
    this.#isGathering = false
    if (!this.#requests.isFree || this.#state === 'closed') return
    const now = this.#runtime.now()
    const { isAway } = this.#reachability
    const asked = [...this.#wants.values()].filter(
      (want) => (want.isQueued && want.wanted === 0) || (!isAway && this.#askAtOf(want) <= now),
    )
    const { known, units, accepted, refused } = this.#units.report()
    const named = [...asked.flatMap(({ counted }) => counted.series), ...units.map(([name]) => name)]
    const series = [...new Set(named)]
    const number = (name: string): number => series.indexOf(name) + 1
    const words = [...this.#words.values()]
    const { lag, bound: arrivesWithin } = this.#units.arrivals
    const isTeaching = this.#isTeaching
    const reached = { isTeaching, now, roundTrip: this.#requests.roundTrip, lag: lag + 2, arrivesWithin }
    const { name, reconnectTime } = this.#options
    const request: Request = {
      me: name,
      id: `${name}.${(this.#ids += 1)}.`,
      ...this.#heard,
      ...this.#reachability.report(now),
      ...this.#keeping,
      reconnect: reconnectTime,
      outage: Math.max(0.9 * shortestOutage, this.#keeping.lifetime - reconnectTime),
      series,
      units: units.map(([of, id, age]) => {
        const set = setOf(number(of), id)
        return age === undefined ? [set, id] : [set, id, age]
      }),
      wants: asked.map((want) => want.counted.wanted(this.#missing(want), number, reached)),
      words: words.map(({ about, text, for: ms }) => ({ about, text, ms: Math.min(ms, forGood) })),
      accepted,
      refused,
      trips: this.#roundTrips.report(),
    }
    const isLast = this.#state === 'last'
    this.#lastSentAt = now
    this.#requests.send(request, (response) => {
      known()
      for (const word of words) if (this.#words.get(word.about) === word) this.#words.delete(word.about)
      this.#responded(response, request, asked)
      if (isLast) this.#end()
    })
  }

  #missing(want: Want): number {
    const count = this.#countOf(want)
    return want.wanted === 0 ? 0 : Math.min(want.wanted - count, Math.max(1, this.#units.warm(count)))
  }

  #responded(response: Response, request: Request, asked: readonly Want[]): void {
    const now = this.#runtime.now()
    const { epoch, turn, member, clock, trips, counts } = response
    const isKnown = epoch === this.#heard.epoch
    this.#heard = { epoch, turn, member }
    this.#offset = clock - now
    this.#roundTrips.update(trips, now, this.#keeping.lifetime)
    const outcome = this.#reachability.responded(request)
    if (outcome !== 'outdated') this.#share(response)
    if (outcome === 'back') {
      if (this.#options.link.isBypassed) this.#api.failed('half-open connection: set a socket timeout')
      this.#api.recovered()
    }
    const [accepted, refused] = this.#counts
    this.#counts = counts
    if (isKnown)
      this.#api.counted(counts[0] - accepted - request.accepted, counts[1] - refused - request.refused)
    for (const [about, text, ms] of response.words)
      this.#hear({ about, text, for: ms > forGood / 2 ? Infinity : ms })
    const start = this.#runtime.moment()
    const way = this.#requests.shortestWayBack
    for (const [index, want] of asked.entries()) {
      const { counted } = want
      const { grants, wait, soonest, used } = response.wants[index] as Response['wants'][number]
      const { wanted, cost } = request.wants[index] as Request['wants'][number]
      const isQueued = wanted > grants.length
      const askAt = isQueued ? now + Math.min(wait, counted.longestWait(now, this.#isGivingBack)) : never
      Object.assign(want, { used, knownAt: now, soonestAt: now + soonest, isQueued, askAt })
      for (const [each, due] of grants.entries()) {
        const id = `${request.id}${index + 1}.${each + 1}`
        want.grants.push({
          id,
          series: counted.series,
          cost,
          before: cost,
          dueAt: later(start, Math.max(0, due - way)),
        })
      }
      // a claim whose limits have changed meanwhile
      if (this.#wants.get(counted.claim.key) !== want || outcome === 'outdated') this.#units.drop(want.grants)
    }
    this.#api.unitsAvailable()
    this.#plan()
  }

  #hear(word: Word): void {
    this.#notePause(word)
    // a refusal that another process got shows how requests of all arrive
    if (word.about === 'pause' && word.for > 0) this.#units.arrivals.refused(this.#runtime.now())
    this.#api.heard(word)
  }

  #notePause({ about, for: ms }: Word): void {
    if (about === 'pause') this.#pausedUntil = this.#runtime.now() + ms
  }

  /** Redis does not respond, or refuses; the API hears of it once until Redis is found again. */
  #lose(reason: unknown): void {
    const isNew = this.#reachability.isTogether
    this.#reachability.lose(this.#requests.unansweredSince)
    if (this.#state === 'last') return this.#end()
    for (const want of this.#wants.values()) want.isQueued = false
    this.#fallback.begin(this.#silence(), this.#heard.member, this.#offset)
    if (isNew) this.#api.failed(reasonOf(reason))
    this.#api.unitsAvailable()
  }

  #silence(): number {
    return this.#reachability.silence(this.#keeping.lifetime, this.#runtime.now())
  }

  /** If Redis is gone for all, the share begins sooner. If it may refuse this process alone, the next request tells. */
  readonly #noteError = (error: unknown): void => {
    const now = this.#runtime.now()
    this.#reachability.failed(error, now)
    if (this.#isSharing && this.#reachability.goneFor(now) >= 0) {
      this.#fallback.hasten(this.#silence())
      this.#api.unitsAvailable()
    } else if (this.#reachability.isRefused(now) && now - this.#noticedAt > this.#options.reconnectTime) {
      this.#noticedAt = now
      this.#askSoon()
      this.#plan()
    }
  }

  /** Others may not reach Redis and send their shares: this process does too, until just before Redis grants again. */
  #share({ sharesFrom, sharesUntil }: Response): void {
    this.#sharesUntil = later(this.#runtime.moment(), sharesUntil - unreported)
    if (sharesUntil <= 0) return
    if (this.#isSharing) this.#fallback.hasten(Math.max(0, sharesFrom))
    else this.#fallback.begin(Math.max(0, sharesFrom), this.#heard.member, this.#offset)
    this.#api.unitsAvailable()
  }

  #end(): void {
    this.#state = 'closed'
    this.#cancelTimer()
    this.#requests.close()
    this.#closed.resolve()
  }
}
