import type { RoundTripSum } from '@tokenlane/core/fleet'
import { promiseOf } from '../../src/limiter/response-times.ts'
import { type FleetLimit, shortestSpan } from '../../src/limiter/fleet-policy.ts'
import { lease } from '../../src/limiter/ledger.ts'
import type { BudgetRequest } from '../../src/limiter/protocol.ts'

// What `limiter.lua` does, in TypeScript: function by function the same, with the same numbers. The differential test
// holds the two together.

const slots = 100
const shortestOutage = 900
const lateness = 500
const pauseLook = 2_000
const resetLook = 30_000
const timesKept = 30
const timesNeeded = 15
const tripsKept = 30_000

interface State {
  epoch: string
  born: number
  last: number
  run: string
  turn: number
  hold: number
  pause: number
  silenceEnd: number
  grantedAt: number
  sharesUntil: number
  requestedAt: number
  next: number
  round: number
  members: number
  lag: number
  take: number
  times: number[]
  promise: number
  roundTrips?: RoundTripSum | undefined
  earlierTrips?: RoundTripSum | undefined
  roundTripsUntil: number
  served: number
  left: number
  reset: number
  paced: number
  batchStart: number
  batchEnd: number
  asked: number
  reported: number
  delay?: number | undefined
  mark?: { readonly key: string; readonly due: number; readonly served: number }
  used: Map<string, { span: number; slots: Map<number, [units: number, latest: number]>; statedAt: number }>
}

type Entry = [at: number, units: number]

interface Statement {
  epoch: string
  number: number
  units: Map<string, Entry[]>
  place: number | undefined
  waiting: boolean
}

interface Freeing {
  readonly free: number
  readonly list: readonly { readonly at: number; readonly units: number }[]
}

/** What a Redis keeps of one API; keys of real ones may be lost one at a time. */
export interface ReferenceKeys {
  state: State | undefined
  queue: Map<string, number>
  deadlines: Map<string, number>
  readonly statements: Map<string, Statement>
}

export function emptyKeys(): ReferenceKeys {
  return { state: undefined, queue: new Map(), deadlines: new Map(), statements: new Map() }
}

/** A Redis for one API, at a given time. */
export class ReferenceRedis {
  keys: ReferenceKeys = emptyKeys()
  /** Names this run of the server. */
  run = 'first'

  /** Returns what the script returns. */
  exchange(request: BudgetRequest, now: number): Record<string, unknown> {
    return new Turn(this.keys, request, now, this.run).take()
  }
}

class Turn {
  readonly #keys: ReferenceKeys
  readonly #request: BudgetRequest
  #now: number
  readonly #run: string
  #promise = lease
  readonly #lastRequestAt: number
  readonly #isStale: boolean = false
  #isNew = false
  #asks = false
  #state: State
  #stated: Statement | undefined
  #units = new Map<string, Entry[]>()

  constructor(keys: ReferenceKeys, request: BudgetRequest, now: number, run: string) {
    this.#keys = keys
    this.#request = request
    this.#now = now
    this.#lastRequestAt = keys.state?.requestedAt ?? 0
    this.#stated = keys.statements.get(request.process)
    if (this.#stated && keys.state && this.#stated.epoch !== keys.state.epoch) this.#stated = undefined
    this.#state = keys.state as State
    this.#run = keys.state === undefined || now - keys.state.last > 20 ? run : keys.state.run
    if (this.#stated && request.number <= this.#stated.number) this.#isStale = true
  }

  take(): Record<string, unknown> {
    if (this.#isStale) return { stale: true }
    const request = this.#request
    if (this.#isForgotten()) this.#beginEpoch()
    const state = this.#state
    this.#now = Math.max(this.#now, state.last)
    if (state.run === '') state.run = this.#run
    state.turn += 1
    state.last = this.#now
    state.members = Math.max(state.members, request.member)
    const member = request.member === 0 ? (state.members += 1) : request.member
    this.#waitForOthers()
    this.#replaceUnits()
    if (request.resume) Object.assign(state, { pause: 0, paced: 0 })
    if (request.pause > 0) {
      state.pause = Math.max(state.pause, this.#now + request.pause)
      state.paced = Math.max(state.paced, state.pause + this.#shortest)
    }
    this.#learnTimes()
    this.#learnRoundTrips()
    this.#applyReported()
    const { grants, wait, place, waits } = this.#serve()
    this.#write(wait, place, waits)
    const freeings = this.#allFreeings(true)
    const soonest = this.#dueOf(1, freeings) - this.#now
    return {
      epoch: state.epoch,
      turn: state.turn,
      member,
      grants,
      wait,
      now: this.#now,
      promise: this.#promise,
      ...this.#levels(freeings),
      asks: this.#asks,
      roundTrips: together(state.roundTrips, state.earlierTrips),
      soonest: Math.max(0, soonest),
      pause: Math.max(0, state.pause - this.#now),
      sharesFrom: Math.max(0, state.grantedAt + request.policy.grantLifetime - this.#now),
      sharesUntil: Math.max(0, state.sharesUntil - this.#now),
    }
  }

  // epoch

  #isForgotten(): boolean {
    const state = this.#keys.state
    if (state === undefined) return true
    const { epoch, turn } = this.#request
    const clockWasSetBack = this.#now < state.last - 1_000
    const writesWereLost = epoch === state.epoch && turn > state.turn
    const isAnotherServer = this.#run !== '' && state.run !== '' && this.#run !== state.run
    return clockWasSetBack || writesWereLost || isAnotherServer
  }

  #beginEpoch(): void {
    const { process, number, policy, lag } = this.#request
    const before = this.#keys.state?.pause ?? 0
    this.#keys.state = this.#state = {
      epoch: `${process}:${number}`,
      born: this.#now,
      last: 0,
      run: this.#run,
      turn: 0,
      hold: this.#now + policy.grantLifetime,
      pause: before < this.#now + 86_400_000 ? before : 0,
      silenceEnd: this.#now,
      grantedAt: this.#now,
      sharesUntil: 0,
      requestedAt: 0,
      next: 0,
      round: 0,
      members: 0,
      lag,
      take: 1,
      times: [],
      promise: lease,
      roundTripsUntil: 0,
      served: 0,
      left: 0,
      reset: 0,
      paced: 0,
      batchStart: 0,
      batchEnd: 0,
      asked: 0,
      reported: 0,
      used: new Map(),
    }
    this.#stated = undefined
    this.#isNew = true
  }

  // epoch: waiting for others

  #waitForOthers(): void {
    const state = this.#state
    const { alone, away, refused, policy } = this.#request
    const longEnough = Math.max(shortestOutage, policy.grantLifetime - policy.reconnectTime)
    const isOutage = refused && this.#now - Math.max(this.#lastRequestAt, state.born) >= longEnough
    if (isOutage || this.#now - this.#lastRequestAt >= policy.reconnectTime) state.silenceEnd = this.#now
    if (!away) state.requestedAt = this.#now
    if (isOutage || (alone > 0 && this.#now - alone < state.silenceEnd)) {
      state.sharesUntil = state.silenceEnd + policy.reconnectTime
      state.hold = Math.max(state.hold, state.sharesUntil)
    }
  }

  // times

  #learnTimes(): void {
    const state = this.#state
    const { times, promise, lag, policy } = this.#request
    state.times = [...state.times, ...times].slice(-timesKept)
    if (times.length > 0 && state.times.length >= timesNeeded)
      state.promise = promiseOf(state.times, shortestSpan(policy))
    this.#promise = promise > 0 ? promise : state.promise
    const known = lag > 0 ? lag : this.#promise < lease ? this.#promise : 0
    if (known > 0) state.lag = state.lag * 0.9 + known * 0.1
  }

  #learnRoundTrips(): void {
    const state = this.#state
    if (this.#now >= state.roundTripsUntil) {
      state.earlierTrips = this.#now < state.roundTripsUntil + tripsKept ? state.roundTrips : undefined
      state.roundTrips = undefined
      state.roundTripsUntil = this.#now + tripsKept
    }
    state.roundTrips = together(state.roundTrips, this.#request.roundTrips)
  }

  // units

  #usedOf({ key, span }: FleetLimit): Map<number, [number, number]> {
    const { used, hold } = this.#state
    const known = used.get(key) ?? { span, slots: new Map<number, [number, number]>(), statedAt: 0 }
    if (!used.has(key)) {
      used.set(key, known)
      if (!this.#isNew)
        this.#state.hold = Math.max(hold, this.#now + Math.min(span, this.#request.policy.grantLifetime))
    }
    known.statedAt = this.#now
    return known.slots
  }

  #add(limit: FleetLimit, at: number, units: number): void {
    if (at + limit.span <= this.#now) return
    const used = this.#usedOf(limit)
    const slot = Math.ceil((at * slots) / limit.span)
    const known = used.get(slot) ?? [0, at]
    used.set(slot, [known[0] + units, Math.max(known[1], at)])
  }

  #remove(limit: FleetLimit, at: number, units: number): void {
    if (at + limit.span <= this.#now) return
    const used = this.#usedOf(limit)
    const slot = Math.ceil((at * slots) / limit.span)
    const known = used.get(slot)
    if (known === undefined) return
    if (known[0] - units > 0) known[0] -= units
    else used.delete(slot)
  }

  #replaceUnits(): void {
    const { policy, units } = this.#request
    for (const limit of policy.limits) {
      this.#usedOf(limit)
      for (const [at, count] of this.#stated?.units.get(limit.key) ?? []) this.#remove(limit, at, count)
    }
    this.#forgetOldUnits()
    for (const [index, limit] of policy.limits.entries()) {
      const entries = (units[index] ?? []).map(([age, count]): Entry => [this.#now - age, count])
      for (const [at, count] of entries) this.#add(limit, at, count)
      this.#units.set(limit.key, entries)
    }
  }

  #forgetOldUnits(): void {
    for (const [key, used] of this.#state.used) {
      for (const [slot, [, latest]] of used.slots)
        if (latest + 2 * used.span <= this.#now) used.slots.delete(slot)
      if (this.#now - used.statedAt > used.span + 3_600_000) this.#state.used.delete(key)
    }
  }

  // due

  #responseOf(at: number, isExpected: boolean): number {
    const { horizon, longestPromise } = this.#request.policy
    const isPresumed = at > this.#now + horizon + longestPromise
    return isExpected && isPresumed ? this.#now + this.#state.lag : at
  }

  #allFreeings(isExpected: boolean): Freeing[] {
    return this.#request.policy.limits.map((limit) => {
      const counted = [...this.#usedOf(limit).values()].filter(
        ([, latest]) => latest + limit.span > this.#now,
      )
      const list = counted.map(([units, latest]) => ({
        at: this.#responseOf(latest, isExpected) + limit.span,
        units,
      }))
      const used = list.reduce((sum, { units }) => sum + units, 0)
      return { free: limit.quota - used, list: list.toSorted((one, other) => one.at - other.at) }
    })
  }

  #dueOf(unit: number, freeings: readonly Freeing[]): number {
    const { hold, pause, next, reset } = this.#state
    const left = this.#leftBeforeReset
    let from = Math.max(this.#now, hold, pause, next)
    if (unit > left) from = Math.max(from, reset)
    const inRow = unit > left ? unit - left : unit
    return Math.max(this.#freeAt(unit, freeings), from + (inRow - 1) * this.#apart(true))
  }

  #freeAt(unit: number, freeings: readonly Freeing[]): number {
    const { hold, pause, lag, promise } = this.#state
    const { delay = promise < lease ? promise : lag } = this.#state
    let due = Math.max(this.#now, hold, pause)
    if (unit > this.#leftBeforeReset) due = Math.max(due, this.#state.reset)
    const from = due
    for (const [index, limit] of this.#request.policy.limits.entries()) {
      const { free, list } = freeings[index] as Freeing
      const rounds = Math.floor((unit - 1) / limit.quota)
      let missing = unit - rounds * limit.quota - free
      let at = from
      for (const freeing of list) {
        if (missing <= 0) break
        missing -= freeing.units
        at = Math.max(from, freeing.at)
      }
      due = Math.max(due, at + rounds * (limit.span + delay))
    }
    return due
  }

  #roomBy(due: number, freeings: readonly Freeing[]): number {
    let room = Infinity
    for (const { free, list } of freeings) {
      let units = free
      for (const freeing of list) {
        if (freeing.at > due) break
        units += freeing.units
      }
      room = Math.min(room, units)
    }
    return room
  }

  // remaining

  /** 0 without limits. */
  get #shortest(): number {
    const { limits } = this.#request.policy
    return limits.length === 0 ? 0 : Math.min(...limits.map(({ span }) => span))
  }

  get #leftBeforeReset(): number {
    return this.#state.reset > this.#now ? this.#state.left : Infinity
  }

  #apart(isExpected = false): number {
    const { gather, policy } = this.#request
    if (policy.interval > 0 || this.#now >= this.#state.paced || gather > 0) return policy.interval
    const limit = this.#narrowest
    if (limit === undefined) return 0
    return (limit.span + (isExpected ? (this.#state.delay ?? 0) : 0)) / limit.quota
  }

  #asksForReport(granted: number): boolean {
    const state = this.#state
    if (granted === 0 || this.#shortest === 0) return false
    if (this.#now < Math.max(state.asked, state.reported) + this.#shortest / 4) return false
    state.asked = this.#now
    return true
  }

  #sentSince(time: number): number {
    const { promise, lag, times } = this.#state
    const { limits, horizon, longestPromise } = this.#request.policy
    const roundTrip = Math.max(promise < lease ? promise : lag, ...times)
    const counts = limits.map((limit) => {
      let count = 0
      for (const [slot, [units, latest]] of this.#usedOf(limit)) {
        const isPresumed = latest > this.#now + horizon + longestPromise
        const respondedAt = ((slot - 1) * limit.span) / slots
        if (respondedAt - (isPresumed ? lease : roundTrip) > time) count += units
      }
      return count
    })
    return Math.max(0, ...counts)
  }

  #freedSince(time: number): number {
    const counts = this.#request.policy.limits.map((limit) => {
      let count = 0
      for (const [units, latest] of this.#usedOf(limit).values()) {
        const freeAt = latest + limit.span
        if (freeAt > time && freeAt <= this.#now) count += units
      }
      return count
    })
    return Math.max(0, ...counts)
  }

  #applyReported(): void {
    const state = this.#state
    const { reported, resume } = this.#request
    if (resume) state.reset = 0
    if (reported.length === 0) return
    const [remaining, resetIn, age, took] = reported
    if (this.#now - age < state.reported || age > (this.#shortest || 60_000) / 40) return
    state.reset = 0
    state.reported = this.#now - age
    const freeings = this.#allFreeings(false)
    const left = remaining - this.#sentSince(this.#now - age)
    const mayBeFree = left + this.#freedSince(this.#now - age - took)
    const isFewer = mayBeFree + 1 + this.#fewest / 40 < this.#roomBy(this.#now, freeings)
    const isLater = this.#now + resetIn > this.#dueOf(1, freeings) + 1_000
    if (isFewer || isLater) Object.assign(state, { left: Math.max(0, left), reset: this.#now + resetIn })
    if (isFewer && left < 1) state.paced = state.reset + this.#shortest
  }

  #levels(freeings: readonly Freeing[]): { used: number; left: number } {
    const { hold, pause } = this.#state
    let used = 0
    let left = Math.min(this.#leftBeforeReset, 1_000_000_000)
    for (const [index, { quota }] of this.#request.policy.limits.entries()) {
      const free = Math.max(0, freeings[index]?.free ?? 0)
      used = Math.max(used, 1 - free / quota)
      left = Math.min(left, free)
    }
    return { used, left: Math.max(hold, pause) > this.#now ? 0 : left }
  }

  // turns and grants

  #inBatch(unit: number, free: number, freeings: readonly Freeing[]): number {
    const { gather, policy } = this.#request
    const { batchStart, batchEnd } = this.#state
    if (gather === 0 || policy.interval > 0) return free
    if (free <= batchEnd + gather) return Math.max(free, batchStart)
    const isEnough = this.#freeAt(unit + Math.ceil(this.#fewest / 5) - 1, freeings)
    return Math.max(free, Math.min(free + gather, isEnough))
  }

  #noteBatch(due: number): void {
    const state = this.#state
    if (due > state.batchEnd + this.#request.gather) state.batchStart = due
    state.batchEnd = Math.max(state.batchEnd, due)
  }

  #grant(most: number, freeings: readonly Freeing[]): { grants: Entry[]; granted: number } {
    const { policy } = this.#request
    const grants: Entry[] = []
    let granted = 0
    while (granted < most) {
      const free = Math.max(this.#freeAt(granted + 1, freeings), this.#state.next)
      const due = this.#inBatch(granted + 1, free, freeings)
      if (due > this.#now + policy.horizon) break
      this.#noteBatch(due)
      let count = 1
      if (this.#apart() > 0) this.#state.next = due + this.#apart()
      else {
        const left = due < this.#state.reset ? this.#leftBeforeReset : most
        count = Math.min(most, left, this.#roomBy(due, freeings)) - granted
      }
      grants.push([due - this.#now, count])
      granted += count
    }
    for (const [delay, count] of grants) if (this.#now + delay < this.#state.reset) this.#state.left -= count
    for (const [delay, count] of grants)
      for (const limit of policy.limits) {
        const at = this.#now + delay + this.#promise
        this.#add(limit, at, count)
        this.#units.get(limit.key)?.push([at, count])
      }
    return { grants, granted }
  }

  get #fewest(): number {
    return Math.min(1_000_000, ...this.#request.policy.limits.map(({ quota }) => quota))
  }

  get #cost(): number {
    const shortest = Math.min(...this.#request.policy.limits.map(({ span }) => span))
    if (shortest === Infinity) return 1
    return Math.max(1, 0.75 + (1.5 * this.#request.lag) / shortest)
  }

  #placeOf(share: number): number {
    const stated = this.#stated
    let place = stated?.place ?? 0
    if (!stated?.waiting)
      place = Math.max(this.#state.round + 1 + (this.#state.turn % 1_000_000) / 1_000_000, place)
    return Math.min(place, this.#state.round + 1 + share + this.#cost)
  }

  #aheadOf(place: number): number {
    const below = Number(place.toFixed(7))
    let ahead = 0
    for (const each of this.#keys.queue.values()) if (each < below) ahead += 1
    return ahead
  }

  #waitFor(unit: number, others: number): number {
    const { policy } = this.#request
    const { hold, pause, reset } = this.#state
    const due = this.#dueOf(unit, this.#allFreeings(true))
    let wait = Math.max(due - policy.horizon / 2, hold) - this.#now
    if (pause > this.#now) wait = Math.min(wait, Math.max(pauseLook, others * 20))
    if (reset > this.#now) wait = Math.min(wait, Math.max(resetLook, others * 2_000))
    return Math.max(wait, policy.horizon / 4)
  }

  #serve(): { grants: Entry[]; wait: number; place: number | undefined; waits: boolean } {
    const state = this.#state
    const { policy, process, wanted, warm } = this.#request
    let place = this.#stated?.place
    if (wanted <= 0) return { grants: [], wait: 0, place, waits: false }
    const queued = !this.#isNew && this.#keys.queue.has(process) ? 1 : 0
    const all = this.#isNew ? 1 : this.#keys.queue.size + 1 - queued
    const share = Math.max(1, Math.floor(this.#fewest / all))
    place = this.#placeOf(Math.ceil(this.#fewest / all))
    let ahead = this.#isNew ? 0 : this.#aheadOf(place)
    const unitsAhead = Math.ceil(ahead * Math.min(share, state.take))
    const freeings = this.#allFreeings(false)
    const due = this.#dueOf(unitsAhead + 1, freeings)
    let result: { grants: Entry[]; granted: number } = { grants: [], granted: 0 }
    if (state.hold <= this.#now && due <= this.#now + policy.horizon)
      result = this.#grant(
        Math.min(wanted, share, Math.max(warm, all === 1 ? share : Math.ceil(share / 4))),
        freeings,
      )
    const { grants, granted } = result
    if (granted > 0) {
      this.#learnDelay(grants, granted, all)
      state.take = state.take * 0.9 + granted * 0.1
      state.grantedAt = this.#now
      state.round = Math.max(state.round, Math.floor(place))
      place += granted * this.#cost
      ahead = this.#isNew ? 0 : this.#aheadOf(place) - queued
    }
    this.#asks = this.#asksForReport(granted)
    const waits = wanted > granted
    const wait = waits ? this.#waitFor(Math.ceil(ahead * Math.min(share, state.take)) + 1, all) : 0
    return { grants, wait, place, waits }
  }

  get #narrowest(): FleetLimit | undefined {
    let found: FleetLimit | undefined
    for (const limit of this.#request.policy.limits)
      if (!found || limit.span / limit.quota > found.span / found.quota) found = limit
    return found
  }

  #learnDelay(grants: readonly Entry[], granted: number, all: number): void {
    const state = this.#state
    const { mark, lag } = state
    const limit = this.#narrowest
    if (limit === undefined) return
    const before = state.served
    state.served += granted
    const rounds = Math.ceil(all / limit.quota / 2)
    const unit = mark?.key === limit.key ? mark.served + rounds * limit.quota - before : 0
    if (unit > granted) return
    let left = Math.max(1, unit)
    const [delayOfGrant] = grants.find(([, count]) => (left -= count) <= 0) as Entry
    const due = this.#now + delayOfGrant
    const delay = mark && unit > 0 ? (due - mark.due) / rounds - limit.span : 0
    const isPaced = this.#now < state.paced
    if (!isPaced && state.delay !== undefined && state.delay >= limit.span / 4) state.delay = undefined
    if (delay > 0 && (isPaced || delay < limit.span / 4)) state.delay = ((state.delay ?? lag) + delay) / 2
    state.mark = { key: limit.key, due, served: before + Math.max(1, unit) }
  }

  // write

  #write(wait: number, place: number | undefined, waits: boolean): void {
    const { queue, deadlines, statements } = this.#keys
    const { process, number, policy } = this.#request
    statements.set(process, { epoch: this.#state.epoch, number, units: this.#units, place, waiting: waits })
    if (this.#isNew) {
      queue.clear()
      deadlines.clear()
    }
    const by = Number(this.#now.toFixed(3))
    const late = Array.from(deadlines).filter(([, deadline]) => deadline <= by)
    // Redis takes equal ones by name
    late.sort(([name, one], [other, two]) => one - two || (name < other ? -1 : 1))
    for (const [name] of late.slice(0, 100)) {
      deadlines.delete(name)
      queue.delete(name)
    }
    if (waits && place !== undefined) {
      queue.set(process, Number(place.toFixed(7)))
      deadlines.set(process, Number((this.#now + wait + Math.max(policy.horizon, lateness)).toFixed(3)))
    } else {
      queue.delete(process)
      deadlines.delete(process)
    }
    if (queue.size === deadlines.size) return
    queue.clear()
    deadlines.clear()
  }
}

function together(some: RoundTripSum = [0, 0, 0], others: RoundTripSum = [0, 0, 0]): RoundTripSum {
  if (some[2] === 0) return others
  if (others[2] === 0) return some
  return [Math.min(some[0], others[0]), some[1] + others[1], some[2] + others[2]]
}
