import { Arrivals, type Moment, type Permit, type SentRequest } from '@tokenlane/core/fleet'
import { type CountedClaim, useWithin } from './counted-claim.ts'
import type { FleetRoundTrips } from './fleet-round-trips.ts'
import { membersOf, type Request, type UnitReport } from './exchange.ts'
import { longestSince, type Runtime } from './runtime.ts'

export interface Unit {
  readonly id: string
  readonly series: readonly string[]
  /** What Redis counts, and what it should count. */
  readonly before: number
  cost: number
  /** When an attempt may take it. */
  readonly dueAt?: Moment
  request?: SentRequest<Unit>
  /** When Redis must know that the request was sent. */
  tellAt?: number
  /** Whether nothing more will be known of it. */
  isOver?: boolean
}

interface Report extends Pick<Request, 'accepted' | 'refused'> {
  readonly units: readonly UnitReport<string>[]
  readonly known: () => void
}

/** The units of one process: those that Redis has granted, and those of attempts until Redis knows what became of them. */
export class Units {
  readonly arrivals: Arrivals<Unit>
  readonly #runtime: Runtime
  readonly #roundTrips: FleetRoundTrips
  readonly #changed: (isGivenBack: boolean) => void
  readonly #unreported = new Set<Unit>()
  #accepted = 0
  #refused = 0
  /** When Redis must know something that it does not. */
  reportAt: number = Infinity

  /** @param changed hears of each end of an attempt, and whether it cost less than it took. */
  constructor(runtime: Runtime, roundTrips: FleetRoundTrips, changed: (isGivenBack: boolean) => void) {
    this.#runtime = runtime
    this.#roundTrips = roundTrips
    this.#changed = changed
    this.arrivals = new Arrivals<Unit>(runtime, () => {}, roundTrips)
  }

  /**
   * Returns how many attempts beyond those need no new connection, whose set-up would keep a unit used for long; `Infinity`
   * where responses show soon enough when requests have arrived.
   */
  warm(granted: number): number {
    const { lag, bound } = this.arrivals
    return lag > bound / 2 ? this.arrivals.freeConnections(this.#runtime.now()) - granted : Infinity
  }

  /** Gives back the granted units that no call took in time, and returns when the first of the others is due. */
  dueAt(grants: Unit[]): number {
    const now = this.#runtime.moment()
    // requests of this process may arrive sooner than those of others
    const lead = this.#roundTrips.lead(this.arrivals.isNextFirst(this.#runtime.now()))
    // Redis counts a unit for so long only, whatever kept the process from using it
    while (grants[0]?.dueAt && longestSince(grants[0].dueAt, now) > useWithin + lead)
      this.#settle(grants.shift() as Unit, 0)
    return (grants[0]?.dueAt?.monotonic ?? Infinity) + lead
  }

  drop(grants: Unit[]): void {
    for (const unit of grants.splice(0)) this.#settle(unit, 0)
  }

  /** Returns what Redis should know; `known` notes that it does. */
  report(): Report {
    const now = this.#runtime.now()
    const [accepted, refused] = [this.#accepted, this.#refused]
    const units = [...this.#unreported].filter(({ isOver, tellAt = Infinity }) => isOver || tellAt <= now)
    const over = units.filter(({ isOver }) => isOver)
    this.reportAt = Infinity
    for (const { tellAt = Infinity } of this.#unreported) if (tellAt > now) this.reportBy(tellAt)
    return {
      accepted,
      refused,
      units: units.flatMap((unit) => reportsOf(unit, now)),
      known: (): void => {
        this.#accepted -= accepted
        this.#refused -= refused
        for (const unit of units) delete unit.tellAt
        for (const unit of over) this.#unreported.delete(unit)
      },
    }
  }

  reportBy(at: number): void {
    this.reportAt = Math.min(this.reportAt, at)
  }

  /** Notes what an attempt took in the end. Others may wait for what is given back. */
  #settle(unit: Unit, cost: number, tellWithin = 0): void {
    unit.isOver = true
    delete unit.tellAt
    const within = cost < unit.cost ? 0 : tellWithin
    unit.cost = Math.ceil(cost)
    if (unit.series.length > 0) this.#unreported.add(unit)
    this.reportBy(this.#runtime.now() + within)
  }

  take(unit: Unit, tellWithin: CountedClaim['tellWithin'], share?: Permit): Permit {
    const { arrivals } = this
    const { cost } = unit
    const request = arrivals.send(unit)
    unit.request = request
    unit.tellAt = request.sentAt + tellWithin.sent
    if (unit.series.length > 0) this.#unreported.add(unit)
    this.reportBy(unit.tellAt)
    return {
      answered: (response) => {
        share?.answered(response)
        if (!request.isOpen) return
        arrivals.answered(request, response)
        if (response.isRefused) this.#refused += 1
        else this.#accepted += 1
        this.#settle(unit, response.cost, tellWithin.answered)
        this.#changed(response.cost < cost)
      },
      ended: () => {
        share?.ended()
        if (request.isOpen) this.#settle(unit, cost, tellWithin.answered)
        arrivals.ended(request)
        this.#changed(false)
      },
      cancel: () => {
        share?.cancel()
        arrivals.ended(request)
        this.#settle(unit, 0)
        this.#changed(false)
      },
    }
  }
}

function reportsOf({ id, series, cost, before, request }: Unit, now: number): UnitReport<string>[] {
  const age = request ? now - request.latest : 0
  const members = membersOf(cost)
  const gone = membersOf(before).filter((member) => !members.includes(member))
  return series.flatMap((name) => [
    ...members.map((member) => [name, id + member, age] as const),
    ...gone.map((member) => [name, id + member] as const),
  ])
}
