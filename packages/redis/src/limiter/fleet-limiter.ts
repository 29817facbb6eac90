import {
  type Claim,
  defaultGrace,
  type LimitedApi,
  type NotBefore,
  type Permit,
  type RateLimiter,
  together,
  type Usage,
  type Word,
} from '@tokenlane/core/fleet'
import { reasonOf } from '../failure-reason.ts'
import { CountedClaim } from './counted-claim.ts'
import type { Exchange, KeptSeries, Request, Response, WantedUnits } from './exchange.ts'
import { FallbackLimiter } from './fallback-limiter.ts'
import { FleetRoundTrips } from './fleet-round-trips.ts'
import type { Link } from './link.ts'
import { Reachability } from './reachability.ts'
import { RedisRequests } from './redis-requests.ts'
import type { Runtime } from './runtime.ts'
import { shortestOutage, silenceBeforeFallback, unitLifetime } from './silence.ts'
import { Units } from './units.ts'

/** How far apart exchanges are at least, and how often a process looks whether a pause was lifted, in milliseconds. */
const apart = 20
const pauseLook = 1_000
/** How long before Redis grants units again shares end, in milliseconds: it grants ahead, and must know of all that was sent. */
const unreported = 500
const mostWants = 100
/** A process that would need a new connection lets others go first for about as long as its set-up may keep a unit used. */
const patience = 5
/** How long a process waits before it looks where others may give a part of their units back: this part of a span, and at least so many milliseconds. */
const lookOfSpan = 1 / 20
const leastLook = 100
/** The longest that a word holds, in milliseconds. */
const forGood = 1e12

/** What the limiter of one API in one process needs; times in milliseconds. */
export interface FleetLimiterOptions {
  readonly exchange: Exchange
  readonly link: Pick<Link, 'errors' | 'isBypassed' | 'bypass'>
  /** Names the process. */
  readonly name: string
  readonly fallbackShare: number
  readonly timeout: number
  readonly reconnectTime: number
  readonly runtime: Runtime
}

/** What calls wait for. */
interface Want {
  readonly claim: Claim
  readonly counted: CountedClaim
  wanted: number
  /** When to ask Redis. */
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
  #exchanges = 0
  #lastSentAt = Number.NEGATIVE_INFINITY
  /** What Redis said last, and what this process had told it by then. */
  #heard = { epoch: 0, turn: 0, member: 0, heard: -1 }
  #counts: readonly [number, number] = [0, 0]
  /** Redis' clock less that of this process, in milliseconds. */
  #offset = 0
  readonly #series = new Map<string, KeptSeries>()
  /** For how long a unit of any claim so far may count. */
  #lifetime = 0
  #isGathering = false
  /** Whether calls have turned out to cost less than they took. */
  #isGivingBack = false
  #pausedUntil = Number.NEGATIVE_INFINITY
  #sharesUntil = Number.NEGATIVE_INFINITY
  /** When this process last asked because a connection was refused: one node of a Cluster may be gone for long. */
  #noticedAt = Number.NEGATIVE_INFINITY
  readonly #closed = Promise.withResolvers<void>()
  #state: 'open' | 'last' | 'closed' = 'open'

  constructor(api: LimitedApi, options: FleetLimiterOptions) {
    const { exchange, link, name, fallbackShare, reconnectTime, runtime, timeout } = options
    this.#api = api
    this.#options = options
    this.#runtime = runtime
    this.#units = new Units(runtime, name, this.#roundTrips)
    this.#reachability = new Reachability(reconnectTime)
    this.#fallback = new FallbackLimiter(fallbackShare, runtime)
    this.#requests = new RedisRequests(exchange, runtime, timeout, {
      failed: this.#noteError,
      silent: () => this.#bypass(),
      unreachable: (reason) => this.#lose(reason),
      unanswered: () => {
        this.#units.reportBy(Number.NEGATIVE_INFINITY)
        this.#plan()
      },
    })
    link.errors.add(this.#noteError)
  }

  take(claim: Claim, wanted: number): Permit | NotBefore {
    const want = this.#wantOf(claim)
    if (claim.limits.length === 0 && wanted > 0)
      return this.#sent(this.#units.takeOwn(claim, want.counted.patience), claim)
    if (wanted === 0) {
      want.wanted = 0
      this.#units.drop(claim.key)
      this.#plan()
      return Infinity
    }
    if (this.#isSharing) return this.#takeShare(want, wanted)
    const { count, dueAt } = this.#units.inHand(claim.key)
    const wait = dueAt - this.#runtime.now()
    want.wanted = wait > 0 ? wanted : wanted - 1
    if (wait <= 0) return this.#sent(this.#units.take(claim.key, want.counted.patience), claim)
    this.#units.arrivals.full()
    if (count < wanted) this.#plan()
    return wait
  }

  /** Returns how long `ahead` attempts take to come, as if the units to come were for this process alone. */
  forecast(claim: Claim, ahead: number, lag: number, from: number = Number.NEGATIVE_INFINITY): number {
    const now = this.#runtime.now()
    if (this.#isSharing) return this.#fallback.forecast(claim, ahead, lag, Math.max(now, from))
    const want = this.#wantOf(claim)
    const { count } = this.#units.inHand(claim.key)
    const start = Math.max(now, from, ahead > count ? want.soonestAt : now)
    return start - now + want.counted.forecast(Math.max(0, ahead - count - 1), lag)
  }

  usage(claim: Claim): Usage {
    const { used, knownAt, counted } = this.#wantOf(claim)
    const { lag, bound } = this.#units.arrivals
    const isKnown = !this.#isSharing && this.#runtime.now() < knownAt + counted.shortestSpan
    return { used: isKnown ? used : undefined, held: this.#units.held, lag, arrivesWithin: bound }
  }

  tell(word: Word): void {
    this.#words.set(word.about, word)
    this.#notePause(word)
    this.#askSoon()
    this.#units.dropAll()
    this.#plan()
  }

  /** Units may be free that Redis has not known of. */
  #askSoon(): void {
    for (const want of this.#wants.values()) want.askAt = Number.NEGATIVE_INFINITY
  }

  /** Says what Redis does not know, and ends. Stops waiting when Redis does not respond in time. */
  close(): Promise<void> {
    this.#options.link.errors.delete(this.#noteError)
    for (const want of this.#wants.values()) want.wanted = 0
    this.#units.dropAll()
    this.#state = 'last'
    const isNeeded = this.#units.reportAt < Infinity || this.#words.size > 0 || this.#isQueued
    if (this.#reachability.isAway || !isNeeded) this.#end()
    else this.#plan()
    return this.#closed.promise
  }

  get #isSharing(): boolean {
    return !this.#reachability.isTogether || this.#runtime.now() < this.#sharesUntil
  }

  /** Whether Redis has this process among those that wait, though no call of it does. */
  get #isQueued(): boolean {
    return [...this.#wants.values()].some(({ isQueued, wanted }) => isQueued && wanted === 0)
  }

  #wantOf(claim: Claim): Want {
    const known = this.#wants.get(claim.key)
    if (known !== undefined && known.claim.limits === claim.limits) return known
    const counted = new CountedClaim(claim)
    this.#units.arrivals.setPolicy(claim.accounting, claim.unansweredGrace, counted.longestSpan || Infinity)
    this.#units.drop(claim.key)
    const asked = {
      wanted: 0,
      isQueued: false,
      knownAt: Number.NEGATIVE_INFINITY,
      soonestAt: Number.NEGATIVE_INFINITY,
    }
    const want = { ...asked, ...known, claim, counted, askAt: Number.NEGATIVE_INFINITY }
    for (const name of counted.series) {
      const { longest, short, width } = counted.kept(name)
      const before = this.#series.get(name)
      this.#series.set(name, {
        name,
        longest: Math.max(longest, before?.longest ?? 0),
        short: Math.max(short, before?.short ?? 0),
        width: width || (before?.width ?? 0),
      })
    }
    this.#lifetime = Math.max(this.#lifetime, unitLifetime(counted.longestSpan))
    if (this.#wants.size > mostWants) this.#forgetWants()
    this.#wants.set(claim.key, want)
    return want
  }

  /** Forgets what no call waits for: there may be a limit for each customer. */
  #forgetWants(): void {
    for (const [key, { wanted, isQueued }] of this.#wants)
      if (wanted === 0 && !isQueued && this.#units.inHand(key).count === 0) this.#wants.delete(key)
  }

  /** Takes from the share of the process, and asks Redis for the rest. */
  #takeShare(want: Want, wanted: number): Permit | NotBefore {
    const share = this.#fallback.take(want.claim)
    const isEmpty = typeof share === 'number'
    want.wanted = isEmpty ? wanted : wanted - 1
    if (isEmpty) this.#plan()
    return isEmpty
      ? share
      : this.#sent(this.#units.takeOwn(want.claim, want.counted.patience, share), want.claim)
  }

  /** Sees to it that Redis hears of an attempt. */
  #sent(permit: Permit, { cost }: Claim): Permit {
    const heard = (act: () => void): void => {
      act()
      this.#plan()
    }
    this.#plan()
    return {
      answered: (response) =>
        heard(() => {
          permit.answered(response)
          if (response.cost >= cost) return
          this.#isGivingBack = true
          this.#askSoon()
        }),
      ended: () => heard(() => permit.ended()),
      cancel: () => heard(() => permit.cancel()),
    }
  }

  /** Finds out anew when the next exchange must begin. */
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
      at = Math.min(at, this.#askAtOf(want))
      if (wanted > 0 && now < this.#pausedUntil) at = Math.min(at, this.#lastSentAt + pauseLook)
      if (wanted === 0 && isQueued) return now
    }
    return at
  }

  /** Returns when to ask for more units: one that would need a new connection lets other processes go first. */
  #askAtOf({ claim, wanted, isQueued, askAt }: Want): number {
    const { count } = this.#units.inHand(claim.key)
    if (wanted <= count) return Infinity
    return askAt + (isQueued && this.#units.warm(count) <= 0 ? patience * this.#units.arrivals.bound : 0)
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
    const report = this.#units.report()
    const series = [
      ...new Set(
        [...asked.map(({ counted }) => counted.series), ...report.units.map((unit) => unit.series)].flat(),
      ),
    ]
    const number = (name: string): number => series.indexOf(name) + 1
    const words = [...this.#words.values()]
    const { lag, bound: arrivesWithin } = this.#units.arrivals
    const reached = { now, roundTrip: this.#requests.roundTrip, lag: lag + 2, arrivesWithin }
    const request: Request = {
      me: this.#options.name,
      id: `${this.#options.name}.${(this.#exchanges += 1)}.`,
      ...this.#heard,
      ...this.#reachability.report(now),
      lifetime: this.#lifetime,
      reconnect: this.#options.reconnectTime,
      outage: Math.max(0.9 * shortestOutage, this.#lifetime - this.#options.reconnectTime),
      series: series.map((name) => this.#series.get(name) as KeptSeries),
      units: report.units.map((unit) => ({ ...unit, series: unit.series.map(number) })),
      wants: asked.map(({ counted, claim, wanted }) =>
        counted.wanted(this.#missing(claim.key, wanted), number, reached),
      ),
      words: words.map(({ about, text, for: ms }) => ({ about, text, ms: Math.min(ms, forGood) })),
      accepted: report.accepted,
      refused: report.refused,
      trips: this.#roundTrips.report(),
    }
    const isLast = this.#state === 'last'
    this.#lastSentAt = now
    this.#requests.send(request, (response) => {
      report.known()
      for (const word of words) if (this.#words.get(word.about) === word) this.#words.delete(word.about)
      this.#responded(response, request, asked)
      if (isLast) this.#end()
    })
  }

  /** Returns how many units to ask for. */
  #missing(key: string, wanted: number): number {
    if (wanted === 0) return 0
    const { count } = this.#units.inHand(key)
    return Math.min(wanted - count, Math.max(1, this.#units.warm(count)))
  }

  #responded(response: Response, request: Request, asked: readonly Want[]): void {
    const now = this.#runtime.now()
    const { epoch, turn, member, clock, trips, counts } = response
    const isKnown = epoch === this.#heard.epoch
    this.#heard = { epoch, turn, member, heard: turn }
    this.#offset = clock - now
    this.#roundTrips.update(together(...trips), now, this.#lifetime)
    const outcome = this.#reachability.responded(request)
    if (outcome !== 'outdated') this.#share(response, now)
    if (outcome === 'back') this.#rejoin()
    const [accepted, refused] = this.#counts
    this.#counts = counts
    if (isKnown)
      this.#api.counted(counts[0] - accepted - request.accepted, counts[1] - refused - request.refused)
    for (const [about, text, ms] of response.words)
      this.#hear({ about, text, for: ms > forGood / 2 ? Infinity : ms })
    for (const [index, want] of asked.entries()) {
      const { grants, wait, soonest, used } = response.wants[index] as Response['wants'][number]
      const { wanted, cost } = request.wants[index] as WantedUnits
      want.used = used
      want.knownAt = now
      want.soonestAt = now + soonest
      want.isQueued = wanted > grants.length
      want.askAt = want.isQueued
        ? now + Math.min(wait, want.counted.longestWait(now), this.#giveBackLook(want.counted))
        : Number.NEGATIVE_INFINITY
      this.#units.grant(
        { ...want.claim, cost },
        `${request.id}${index + 1}`,
        grants.map((due) => now + due + this.#lead),
      )
      // a claim whose limits have changed meanwhile
      if (this.#wants.get(want.claim.key) !== want || outcome === 'outdated') this.#units.drop(want.claim.key)
    }
    this.#api.unitsAvailable()
    this.#plan()
  }

  /** Returns how soon units may be free that another process gives back. */
  #giveBackLook({ shortestSpan }: CountedClaim): number {
    return this.#isGivingBack ? Math.max(leastLook, shortestSpan * lookOfSpan) : Infinity
  }

  /** By how much sooner than requests of other processes those of this one may arrive, in milliseconds. */
  get #lead(): number {
    return Math.min(defaultGrace, this.#roundTrips.lead)
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
    this.#fallback.begin(this.#silence(), this.#turn)
    if (isNew) this.#api.failed(reasonOf(reason))
    this.#api.unitsAvailable()
  }

  #silence(): number {
    const goneFor = this.#reachability.goneFor(this.#runtime.now())
    return silenceBeforeFallback(this.#lifetime, this.#options.reconnectTime, goneFor)
  }

  get #turn(): { readonly member: number; readonly offset: number } {
    return { member: this.#heard.member, offset: this.#offset }
  }

  /** Where Redis is gone for all, this process need not wait until its turn to notice, nor to find out whether it is cut off alone. */
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

  /** A client whose connection is half open hears of no error; one whose Redis is gone does. */
  #bypass(): void {
    if (!this.#reachability.isRefused(this.#runtime.now())) this.#options.link.bypass()
  }

  /** Others may not reach Redis, and send their shares: so does this process, until a little before Redis grants again. */
  #share({ sharesFrom, sharesUntil }: Response, now: number): void {
    this.#sharesUntil = now + sharesUntil - unreported
    if (sharesUntil <= 0) return
    if (this.#isSharing) this.#fallback.hasten(Math.max(0, sharesFrom))
    else this.#fallback.begin(Math.max(0, sharesFrom), this.#turn)
    this.#api.unitsAvailable()
  }

  #rejoin(): void {
    if (this.#options.link.isBypassed) this.#api.failed('half-open connection: set a socket timeout')
    this.#api.recovered()
  }

  #end(): void {
    this.#state = 'closed'
    this.#cancelTimer()
    this.#requests.close()
    this.#closed.resolve()
  }
}
