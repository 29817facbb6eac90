import { textOf } from '../redis-client.ts'
import * as scripts from '../scripts.ts'
import type { Link } from './link.ts'
import type { ReachabilityReport } from './reachability.ts'
import type { RoundTripSum } from '@tokenlane/core/fleet'

/** What a process says of the units of one attempt. Series are named by their position in the request. */
interface UnitReport {
  readonly id: string
  readonly series: readonly number[]
  /** How long ago the request arrived at the latest, in milliseconds; below 0 for a request that may still be under way. */
  readonly age: number
  readonly cost: number
  /** What Redis counts. */
  readonly before: number
}

/** A limit as Redis counts it; times in milliseconds. */
export interface CountedLimit {
  readonly series: number
  readonly quota: number
  /** For how long a unit counts. */
  readonly span: number
  /** When all units come free together, from now; `undefined` for a limit that slides. */
  readonly ends?: number | undefined
}

/** Units that calls wait for; times in milliseconds. */
export interface WantedUnits {
  readonly limits: readonly CountedLimit[]
  /** Which series these units belong to, each once, and in which of them the process waits. */
  readonly series: readonly number[]
  readonly queue: number
  readonly cost: number
  /** How many attempts could be sent. 0: none waits any more. */
  readonly wanted: number
  /** How many attempts the limits allow in all. */
  readonly share: number
  /** Between two sends. */
  readonly interval: number
  /** For how long a unit counts as under way while the process says nothing of it. */
  readonly bound: number
  /** How far ahead units are granted, and how much before that the process asks. */
  readonly ahead: number
  readonly lead: number
  readonly shortest: number
  /** How far the process is from Redis, and by how much it may come later than it should. */
  readonly distance: number
  readonly late: number
  /** By how much earlier than `bound` requests arrive, and by how much a round takes longer than a span. */
  readonly early: number
  readonly lag: number
  /** For how long units gather, and how many of them are sent at once; 0 if each is sent as soon as it is free. */
  readonly gather: number
  readonly batch: number
}

/** How the units of a series are kept; times in milliseconds. */
export interface KeptSeries {
  readonly name: string
  readonly longest: number
  /** Older units are counted together in slots of this width; 0 if no limit is long. */
  readonly short: number
  readonly width: number
}

/** What a process says to Redis; times in milliseconds. */
export interface Request extends ReachabilityReport {
  readonly me: string
  /** Stands before the ids of granted units. */
  readonly id: string
  /** What the process last heard of the server. */
  readonly epoch: number
  readonly turn: number
  readonly heard: number
  /** The number of this process in the fleet; 0 before it has one. */
  readonly member: number
  /** For how long a server that may have forgotten units grants none. */
  readonly lifetime: number
  readonly reconnect: number
  /** How long no process was here, at least, if Redis is gone for all. */
  readonly outage: number
  readonly series: readonly KeptSeries[]
  readonly units: readonly UnitReport[]
  readonly wants: readonly WantedUnits[]
  readonly words: readonly { readonly about: string; readonly text: string; readonly ms: number }[]
  readonly accepted: number
  readonly refused: number
  readonly trips: RoundTripSum
}

/** What Redis responds; times in milliseconds from then on. */
export interface Response {
  readonly epoch: number
  readonly turn: number
  readonly member: number
  /** Redis' clock. */
  readonly clock: number
  readonly wants: readonly {
    /** When each granted unit may be used. */
    readonly grants: readonly number[]
    /** When to ask again for the others. */
    readonly wait: number
    /** When the first unit would be free for a process alone. */
    readonly soonest: number
    readonly used: readonly number[]
  }[]
  /** What other processes said: about what, the text, and for how long it holds. */
  readonly words: readonly (readonly [about: string, text: string, ms: number])[]
  readonly counts: readonly [accepted: number, refused: number]
  readonly trips: readonly [RoundTripSum, RoundTripSum]
  /** When all processes keep to their own shares. */
  readonly sharesFrom: number
  readonly sharesUntil: number
}

export type Exchange = (request: Request) => Promise<Response>

/** Returns the exchange of one process about one API. A Cluster keeps keys with the same text in braces on one node. */
export function createExchange(link: Pick<Link, 'run'>, prefix: string, baseUrl: string): Exchange {
  const root = `${prefix}:limiter:{${baseUrl}}`
  return async (request) => {
    const keys = request.series.flatMap(({ name }) =>
      ['units', 'slots', 'waiting', 'deadlines'].map((part) => `${root}:${part}:${name}`),
    )
    return readResponse(
      await link.run(scripts.limiter, [`${root}:state`, ...keys], [JSON.stringify(request)]),
    )
  }
}

/**
 * Returns the response in a reply of Redis.
 *
 * @throws Error for a reply that the limiter's script cannot have sent.
 */
function readResponse(reply: unknown): Response {
  try {
    const { wants, words, counts, trips, ...others } = JSON.parse(textOf(reply)) as Response
    const numbers = [...counts, ...trips.flat(), ...Object.values(others)]
    const read = {
      ...others,
      counts,
      trips,
      // an empty list is an object to Redis
      words: listOf(words),
      wants: listOf(wants).map(({ grants, used, ...want }) => {
        numbers.push(...listOf(grants), ...listOf(used), ...Object.values(want))
        return Object.assign(want, { grants: listOf(grants), used: listOf(used) })
      }),
    }
    if (numbers.length > 13 && numbers.every((number) => Number.isFinite(number))) return read
  } catch {
    // thrown below
  }
  throw new Error('not a response from the limiter script')
}

function listOf<T>(list: readonly T[]): readonly T[] {
  return Array.isArray(list) ? list : []
}
