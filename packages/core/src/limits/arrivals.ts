import { Connections } from './connections.ts'
import { LearnedBound, setUpFactor } from './learned-bound.ts'
import type { Answer } from './rate-limiter.ts'
import type { Accounting } from './rate-policy.ts'
import { type RoundTripMemory, RoundTrips } from './round-trips.ts'

/** Time, as a limiter sees it: the process's own, or that of a simulation. */
export interface LimiterClock {
  /** Returns milliseconds on a monotonic clock. */
  now(): number
  /** Runs `run` after `ms` milliseconds, unless the function that it returns is called before. */
  after(ms: number, run: () => void): () => void
}

/** A sent request, and the latest time at which it can arrive. */
export interface SentRequest<Units = unknown> {
  readonly units: Units
  readonly sentAt: number
  /** Whether its connection may have been opened for it. */
  readonly isFirst: boolean
  /** The longest the request can take to arrive, in milliseconds, whatever its response shows. */
  readonly bound: number
  /** The latest time at which it can have arrived, as far as is known. */
  latest: number
  /** Whether its response may still move `latest`. */
  isOpen: boolean
}

/** How much longer than another one a request can take to arrive, in milliseconds, unless the policy says otherwise. */
export const defaultGrace = 250
/** A process that seldom sends learns from at most this many more windows at once. */
const mostAtOnce = 4

/** A shorter turn of the event loop does not change bounds, in milliseconds. */
const shortTurn = 10
/** How often the event loop is looked at while a connection may be being set up, in milliseconds. */
const look = 50

/**
 * Determines the latest time at which each request can have reached the API. Its unit is freed one window later.
 *
 * The server counts request `i` when it arrives, `u(i)` after its send, and its response is here `d(i)` later. Of any
 * `quota + 1` requests that it counts, let `j` be the one that was sent last. It took a unit, so another one of them, `i`,
 * had been free: `sent(j) >= latest(i) + window`. Their arrivals are `sent(j) + u(j) - arrived(i)` apart. So no window
 * holds all of them as long as `latest(i) >= arrived(i) - u(j)` for every request `j` that is sent after `i`.
 *
 * Two bounds have this property, and the smaller one counts:
 *
 * 1. *From the send.* Assumed: no request travels for more than `unansweredGrace` longer than another one. Then
 *    `sent(i) + unansweredGrace >= sent(i) + u(i) - u(j)`. The set-up of a connection is part of `u`, so a request that
 *    may have opened its connection gets four times as long. A connection is open if a response left it free lately.
 *    A stalled process sends late: what the event loop is late in the turn of the send, or while a connection is set up,
 *    is added to the bound.
 * 2. *From the response.* `arrived(i) = answered(i) - d(i)`, so `answered(i) - least >= arrived(i) - u(j)` where
 *    `least <= d(i) + u(j)`: a response that came quickly and a request that arrived quickly, hence a round trip that is
 *    possible. Assumed: none is shorter than the shortest one on an open connection in the last half minute, less half
 *    the difference between the mean and that one. Even the shortest of a few random round trips exceeds the true
 *    minimum by less than that. Never before the send: nothing arrives earlier. In a fleet `j` may be a request of another process, so the
 *    shortest round trip of all processes counts. One that is nearer than they know sends later by the difference.
 *
 * With `accounting: 'learned'` the first bound is a `LearnedBound`. The first request on a connection gets four times as
 * long; the second such request in a window eight times, and so on, since many set-ups at once do more harm; at most as
 * long as with `strict`.
 *
 * The delays by name, here and in a fleet's limiter, all in milliseconds:
 *
 * - `bound`: the longest that a request can take to arrive, whatever its response shows
 * - `grace`: the policy's `unansweredGrace`, from which the bound is made
 * - `slack`: how much earlier than `latest` an unanswered request may turn out to have arrived
 * - `lag`: how much later than one window after its send a unit comes free
 * - `late`: how late something is: the event loop here, a waiting process in a fleet
 * - `lateness`: how late a process or call may be for its turn in a fleet
 * - `lead`: how much earlier: a process asks before its units come free, or a request arrives
 */
export class Arrivals<Units = unknown> {
  readonly #clock: LimiterClock
  readonly #moved: (request: SentRequest<Units>, from: number) => void
  readonly #roundTrips: RoundTripMemory
  readonly #connections = new Connections()
  #grace = defaultGrace
  #bound = new LearnedBound(defaultGrace, Infinity)
  #isLearning = false
  #window = Infinity
  #windowEnd = Number.NEGATIVE_INFINITY
  #wasFull = false
  /** First requests of their connections: in this window, and without a response. */
  #firsts = 0
  #openFirsts = 0
  #refusedAt = Number.NEGATIVE_INFINITY
  /** Requests that may not have left yet, if without a response, and when the event loop is to be looked at next. */
  #leaving: SentRequest<Units>[] = []
  #nextLook = Infinity
  #stopLooking: (() => void) | undefined
  /** A moving average of the longest that requests can have taken to arrive, in milliseconds. */
  lag = 0

  /**
   * @param moved is called when a request's latest arrival changes from `from`.
   * @param roundTrips of this process, or of all that share its limits.
   */
  constructor(
    clock: LimiterClock,
    moved: (request: SentRequest<Units>, from: number) => void,
    roundTrips: RoundTripMemory = new RoundTrips(),
  ) {
    this.#clock = clock
    this.#moved = moved
    this.#roundTrips = roundTrips
  }

  /** @param window of the limit that lets the fewest requests pass, in milliseconds. */
  setPolicy(accounting: Accounting, unansweredGrace: number = defaultGrace, window: number = Infinity): void {
    const isLearning = accounting === 'learned'
    this.#window = window
    // what is learned holds for other limits too
    if (isLearning === this.#isLearning && unansweredGrace === this.#grace) return
    this.#isLearning = isLearning
    this.#grace = unansweredGrace
    this.#bound = new LearnedBound(unansweredGrace, Math.min(window, 60_000))
  }

  /** The longest a request on an open connection can take to arrive, in milliseconds. */
  get bound(): number {
    return this.#bound.ms
  }

  /** How much earlier than `latest` an unanswered request may turn out to have arrived, in milliseconds. */
  get slack(): number {
    if (this.#openFirsts > 0) return setUpFactor * this.#grace
    return this.#connections.busy > 0 ? this.#grace : 0
  }

  send(units: Units, now: number = this.#clock.now()): SentRequest<Units> {
    if (this.#isLearning) this.#learn(now)
    const isFirst = this.#connections.sent(now)
    const bound = isFirst ? this.#withSetUp() : this.#bound.ms
    const request = { units, sentAt: now, isFirst, bound, latest: now + bound, isOpen: true }
    this.#leaving.push(request)
    if (this.#nextLook === Infinity) this.#lookIn(0, now)
    return request
  }

  /** Reads a response. An API refuses a request faster than it serves one. */
  answered(request: SentRequest<Units>, { isRefused, closes = false }: Answer): void {
    const now = this.#clock.now()
    if (isRefused) this.refused(request.sentAt)
    this.#connections.answered(now, closes)
    this.#close(request)
    const { sentAt, isFirst, latest: before } = request
    if (!isRefused) this.#roundTrips.add(now - sentAt, now, isFirst)
    const byResponse = now - (isRefused ? 0 : this.#roundTrips.shortest)
    this.#move(request, Math.min(before, Math.max(sentAt, byResponse)))
    // a unit that has come free already does not come free earlier
    this.lag += (Math.min(before, Math.max(request.latest, now - this.#window)) - sentAt - this.lag) / 16
  }

  /** An exchange ended. A request without a response may still arrive, or was never sent. */
  ended(request: SentRequest<Units>): void {
    if (!request.isOpen) return this.#connections.freed()
    this.#close(request)
    this.#connections.closed()
  }

  /** Called while requests wait for a unit. */
  full(): void {
    this.#wasFull = true
  }

  /** The API refused a request, of this process or of another one. */
  refused(sentAt: number): void {
    // requests that were sent together are refused together
    const isNew = sentAt > this.#refusedAt
    this.#refusedAt = this.#clock.now()
    this.#wasFull = false
    if (!this.#isLearning || !isNew) return
    this.#bound.failed()
    this.#windowEnd = this.#refusedAt + this.#window
  }

  /** Returns whether a request that is sent now may open its connection. */
  isNextFirst(now: number): boolean {
    return !this.#connections.isOneFree(now)
  }

  freeConnections(now: number): number {
    return this.#connections.free(now)
  }

  /** This turn of the event loop is still running: what was sent may not have left yet. */
  stillHere(now: number): void {
    const late = now - this.#nextLook
    if (late < shortTurn) return
    this.#nextLook = now
    for (const request of this.#leaving) if (request.isOpen) this.#move(request, request.latest + late)
  }

  #lookIn(ms: number, now: number): void {
    this.#nextLook = now + ms
    this.#stopLooking = this.#clock.after(ms, this.#look)
  }

  /** By now everything has left except requests whose connection may be being set up. */
  readonly #look = (): void => {
    const now = this.#clock.now()
    this.stillHere(now)
    const isInSetUp = ({ isOpen, isFirst, latest }: SentRequest) => isOpen && isFirst && latest > now
    this.#leaving = this.#openFirsts > 0 ? this.#leaving.filter(isInSetUp) : []
    if (this.#leaving.length > 0) this.#lookIn(look, now)
    else this.#nextLook = Infinity
  }

  /** Counts a request whose connection may be opened for it, and returns its bound. */
  #withSetUp(): number {
    this.#firsts += 1
    this.#openFirsts += 1
    return setUpFactor * Math.min(this.#grace, this.#bound.ms * this.#firsts)
  }

  #close(request: SentRequest<Units>): void {
    request.isOpen = false
    if (!request.isFirst) return
    this.#openFirsts -= 1
    if (this.#openFirsts > 0 || this.#clock.now() >= this.#nextLook) return
    // no connection is being set up, and this is another turn than that of the send
    this.#stopLooking?.()
    this.#leaving = []
    this.#nextLook = Infinity
  }

  #move(request: SentRequest<Units>, to: number): void {
    const from = request.latest
    if (from === to) return
    request.latest = to
    this.#moved(request, from)
  }

  /** Shrinks the learned bound by each window in which requests waited and none was refused. */
  #learn(now: number): void {
    if (now < this.#windowEnd) return
    if (this.#wasFull)
      for (let each = 0; each <= Math.min(mostAtOnce, (now - this.#windowEnd) / this.#window); each += 1)
        this.#bound.held()
    this.#wasFull = false
    this.#firsts = 0
    this.#windowEnd = now + this.#window
  }
}
