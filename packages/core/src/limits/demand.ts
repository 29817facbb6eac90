import { refuse, refusingTo, shape } from '../options/check.ts'
import { type Match, matchOf } from './match.ts'
import type { CheckedPolicy, Limit } from './rate-policy.ts'

/** What one call takes: how many units of which limits. */
export interface Demand {
  /** Calls of the same key take the same. */
  readonly key: string
  readonly cost: number
  /** The series of each limit that the call counts towards; `undefined` for those that it does not match. */
  readonly series: readonly (string | undefined)[]
}

export interface AskingCall {
  readonly method?: string | undefined
  /** Read only where a policy looks at it. */
  readonly url?: string | URL | (() => URL) | undefined
  /** By the options of the call. */
  readonly cost?: number | undefined
}

/** After this many more kinds of calls, those without a unit in use are forgotten. */
const mostUnused = 1_000

/** Finds the limits of one API that a call counts towards. */
export class Demands {
  /** One unit of each limit without a `match`. */
  readonly plain: Demand
  /** One for each kind of calls that count together. There may be one for each customer. */
  readonly #kinds = new Map<string, Demand>()
  #mostKinds = mostUnused
  /** Whether all calls so far take the same. */
  areAlike = true
  readonly #isUnused: (demand: Demand) => boolean
  readonly #limits: readonly Limit[]
  readonly #matches: readonly (Match | undefined)[]
  readonly #isMatched: boolean
  readonly #baseUrl: string
  readonly #basePath: string

  /** @param baseUrl of the API: paths are below it. @param isUnused whether no unit of these limits is in use. */
  constructor(limits: readonly Limit[], baseUrl: string, isUnused: (demand: Demand) => boolean) {
    this.#isUnused = isUnused
    this.#limits = limits
    this.#matches = limits.map(({ match }) => (match === undefined ? undefined : matchOf(match)))
    this.#isMatched = limits.some(({ match }) => match !== undefined)
    this.#baseUrl = baseUrl
    this.#basePath = new URL(baseUrl).pathname.replace(/\/$/, '')
    const series = limits.map((limit) => (limit.match === undefined ? seriesOf(limit) : undefined))
    this.plain = { key: '', cost: 1, series }
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` for an invalid cost, and for one above a quota. */
  of(call: AskingCall, { cost }: Pick<CheckedPolicy, 'cost'>): Demand {
    if (call.cost === undefined && cost === undefined && !this.#isMatched) return this.plain
    return refusingTo('send call', () => this.#read(call, cost))
  }

  #read(call: AskingCall, costOf: CheckedPolicy['cost']): Demand {
    const method = (call.method ?? 'GET').toUpperCase()
    const given = typeof call.url === 'function' ? call.url() : call.url
    const url = new URL(given ?? this.#baseUrl)
    const path = call.cost === undefined ? 'ratePolicy.cost()' : 'tokenlane.cost'
    const cost = call.cost ?? costOf?.({ method, url }) ?? 1
    if (cost === 1 && !this.#isMatched) return this.plain
    if (!Number.isFinite(cost) || cost < 0)
      refuse(path, typeof cost === 'number' ? String(cost) : shape(cost), 'a finite number, 0 or more')
    const pathname = url.pathname.slice(this.#basePath.length)
    const series = this.#limits.map((limit, index) => {
      const values = this.#matches[index] ? this.#matches[index](method, pathname) : ''
      if (values === undefined || cost === 0) return undefined
      if (cost > limit.quota)
        refuse(path, String(cost), `at most ${limit.quota}, the quota of limit ${nameOf(limit, index)}`)
      return values === '' ? seriesOf(limit) : `${seriesOf(limit)} ${values}`
    })
    this.areAlike = false
    const kind = JSON.stringify(series)
    const demand = { key: `${cost} ${kind}`, cost, series }
    if (this.#isMatched && !this.#kinds.has(kind)) this.#keep(kind, demand)
    return demand
  }

  get all(): Demand[] {
    return [this.plain, ...this.#kinds.values()]
  }

  #keep(kind: string, demand: Demand): void {
    if (this.#kinds.size >= this.#mostKinds) {
      for (const [known, other] of this.#kinds) if (this.#isUnused(other)) this.#kinds.delete(known)
      this.#mostKinds = this.#kinds.size + mostUnused
    }
    this.#kinds.set(kind, demand)
  }
}

function nameOf({ name, match }: Limit, index: number): string {
  return `"${name ?? (match === undefined ? `limits[${index}]` : [match].flat().join(', '))}"`
}

const named = 'name '

/** Units of the same name, or of the same calls, count together. */
function seriesOf({ name, match = [] }: Limit): string {
  return name === undefined ? [match].flat().join(',') : named + name
}

/** Whether a series is that of a named limit, which other APIs may have too. */
export function isOfName(series: string): boolean {
  return series.startsWith(named)
}
