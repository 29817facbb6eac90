import {
  Arrivals,
  type Claim,
  type Permit,
  type RoundTripMemory,
  type SentRequest,
} from '@tokenlane/core/fleet'
import type { Runtime } from './runtime.ts'

/** The units of one attempt, in Redis. */
interface Unit {
  readonly id: string
  readonly series: readonly string[]
  /** What Redis counts, and what it should count. */
  readonly before: number
  cost: number
  request?: SentRequest<Unit>
  /** When Redis must know that the request was sent. */
  tellAt?: number
  /** Whether nothing more will be known of it. */
  isOver?: boolean
}

/** Units that Redis has granted, and that no call has taken yet. */
interface Grant {
  readonly unit: Unit
  readonly dueAt: number
}

/** How soon Redis hears of an attempt, in milliseconds: after its send, if there is no response by then, and after its response. */
export interface Patience {
  readonly sent: number
  readonly answered: number
}

/** What Redis should know. */
interface Report {
  readonly units: readonly (Pick<Unit, 'id' | 'series' | 'cost' | 'before'> & { readonly age: number })[]
  readonly accepted: number
  readonly refused: number
  readonly known: () => void
}

/** How long a unit may be used after it was due, in milliseconds. */
export const useWithin = 50

/** The units of one process: those that Redis has granted, and those of attempts until Redis knows what became of them. */
export class Units {
  readonly arrivals: Arrivals<Unit>
  readonly #runtime: Runtime
  readonly #name: string
  readonly #grants = new Map<string, Grant[]>()
  readonly #unreported = new Set<Unit>()
  #ids = 0
  #accepted = 0
  #refused = 0
  /** When Redis must know something that it does not. */
  reportAt: number = Infinity

  constructor(runtime: Runtime, name: string, roundTrips: RoundTripMemory) {
    this.#runtime = runtime
    this.#name = name
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

  /** Adds units that Redis has granted; `series` as in the request. */
  grant({ key, limits, cost }: Claim, id: string, dueAt: readonly number[]): void {
    const grants = this.#grants.get(key) ?? []
    for (const [index, at] of dueAt.entries())
      grants.push({
        unit: { id: `${id}.${index + 1}`, series: seriesOf(limits), cost, before: cost },
        dueAt: at,
      })
    this.#grants.set(key, grants)
  }

  /** Returns how many units calls may still take, and when the first of them is due. */
  inHand(key: string): { readonly count: number; readonly dueAt: number } {
    const grants = this.#grants.get(key) ?? []
    const tooOld = this.#runtime.now() - useWithin
    for (let [first] = grants; first !== undefined && first.dueAt < tooOld; [first] = grants) {
      grants.shift()
      this.#giveBack(first)
    }
    return { count: grants.length, dueAt: grants[0]?.dueAt ?? Infinity }
  }

  /** How many units calls may take. */
  get held(): number {
    return [...this.#grants.keys()].reduce((sum, key) => sum + this.inHand(key).count, 0)
  }

  /** Gives back the units that no call takes any more. */
  drop(key: string): void {
    for (const grant of this.#grants.get(key) ?? []) this.#giveBack(grant)
    this.#grants.delete(key)
  }

  dropAll(): void {
    for (const key of this.#grants.keys()) this.drop(key)
  }

  /** Sends an attempt with a granted unit. */
  take(key: string, patience: Patience): Permit {
    const grant = this.#grants.get(key)?.shift() as Grant
    return this.#permit(grant.unit, patience)
  }

  /** Sends an attempt by this process's own decision. @param share what is used up with it. */
  takeOwn({ limits, cost }: Claim, patience: Patience, share?: Permit): Permit {
    const id = `${this.#name}.own.${(this.#ids += 1)}`
    // Redis does not count it yet
    return this.#permit({ id, series: seriesOf(limits), cost, before: 0 }, { ...patience, sent: 0 }, share)
  }

  /** Returns what Redis should know now; `known` notes that it does. */
  report(): Report {
    const now = this.#runtime.now()
    const [accepted, refused] = [this.#accepted, this.#refused]
    const units = [...this.#unreported].filter(({ isOver, tellAt = Infinity }) => isOver || tellAt <= now)
    const over = units.filter(({ isOver }) => isOver)
    this.reportAt = Infinity
    for (const { tellAt = Infinity } of this.#unreported) if (tellAt > now) this.reportBy(tellAt)
    return {
      units: units.map(({ id, series, cost, before, request }) => {
        const age = request ? now - request.latest : 0
        return { id, series, cost, before, age }
      }),
      accepted,
      refused,
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

  #giveBack({ unit }: Grant): void {
    unit.cost = 0
    this.#end(unit, 0)
  }

  #end(unit: Unit, within: number): void {
    unit.isOver = true
    delete unit.tellAt
    if (unit.series.length > 0) this.#unreported.add(unit)
    this.reportBy(this.#runtime.now() + within)
  }

  #permit(unit: Unit, patience: Patience, share?: Permit): Permit {
    const { arrivals } = this
    const request = arrivals.send(unit)
    unit.request = request
    unit.tellAt = request.sentAt + patience.sent
    if (unit.series.length > 0) this.#unreported.add(unit)
    this.reportBy(unit.tellAt)
    return {
      answered: (response) => {
        share?.answered(response)
        if (!request.isOpen) return
        arrivals.answered(request, response.isRefused)
        if (response.isRefused) this.#refused += 1
        else this.#accepted += 1
        unit.cost = response.cost
        // others may wait for what is given back
        this.#end(unit, unit.cost < unit.before ? 0 : patience.answered)
      },
      ended: () => {
        share?.ended()
        if (!request.isOpen) return arrivals.freed()
        arrivals.dropped(request)
        this.#end(unit, patience.answered)
      },
      cancel: () => {
        share?.cancel()
        arrivals.dropped(request)
        unit.cost = 0
        this.#end(unit, 0)
      },
    }
  }
}

/** Returns the series of limits, each once. */
export function seriesOf(limits: Claim['limits']): readonly string[] {
  return [...new Set(limits.map(({ series }) => series))]
}
