import { textOf } from '../redis-client.ts'
import * as scripts from '../scripts.ts'
import type { Link } from './link.ts'
import type { ReachabilityReport } from './reachability.ts'
import type { RoundTripSum } from '@tokenlane/core/fleet'

/**
 * A unit, by its set and its id, and how long ago its request arrived at the latest, in milliseconds: below 0 if it may
 * still be under way. Without an age it is given back.
 */
export type UnitReport<Set = number> = readonly [set: Set, id: string, age?: number]

/** How Redis keeps units, so that they are there for each limit; times in milliseconds. */
export interface Keeping {
  /** The longest span of a limit; a server that may have forgotten units grants none for a `lifetime`. */
  readonly longest: number
  readonly lifetime: number
  /** Older units are counted together in slots of this width; 0 if no limit is long. */
  readonly short: number
  readonly width: number
  /** How long the keys live on. */
  readonly keep: number
}

/** Units that calls wait for; times in milliseconds. */
export interface WantedUnits {
  /** For how long a unit counts; and when all of them come free together, unless the limit slides. */
  readonly limits: readonly { series: number; quota: number; span: number; ends: number | undefined }[]
  /** In which series the process waits. */
  readonly queue: number
  readonly cost: number
  /** Which sets get the units of an attempt, and how the ids of their members end. */
  readonly sets: readonly number[]
  readonly members: readonly string[]
  /** How many attempts could be sent, 0 if none waits any more; and how many the limits allow in all. */
  readonly wanted: number
  readonly share: number
  readonly interval: number
  readonly bound: number
  /** How far ahead units are granted. */
  readonly ahead: number
  /** Whether the process goes before all others. */
  readonly isFirst: boolean
  /** How far the process is from Redis, and by how much it may come later than it should. */
  readonly distance: number
  readonly late: number
  /** By how much a round takes longer than a span. */
  readonly lag: number
  /** For how long units gather, and how many of them are sent at once; 0 if each is sent as soon as it is free. */
  readonly gather: number
  readonly batch: number
}

/** What a process says to Redis; times in milliseconds. Series are meant by their position in `series`, from 1 on. */
export interface Request extends ReachabilityReport, Keeping {
  readonly me: string
  /** Prefix of the ids of granted units. */
  readonly id: string
  readonly epoch: number
  readonly turn: number
  /** The number of this process in the fleet; 0 before it has one. */
  readonly member: number
  readonly reconnect: number
  /** How long no process was here, at least, if Redis is gone for all. */
  readonly outage: number
  readonly series: readonly string[]
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
  readonly words: readonly (readonly [about: string, text: string, ms: number])[]
  readonly counts: readonly [accepted: number, refused: number]
  readonly trips: readonly [RoundTripSum, RoundTripSum]
  /** When all processes keep to their own shares. */
  readonly sharesFrom: number
  readonly sharesUntil: number
}

/** More units than these are one member of a set in Redis. */
const mostApart = 64

/** Returns what the ids of members of Redis' sets end with that stand for so many units of one attempt. */
export function membersOf(units: number): string[] {
  if (units > mostApart) return [`*${units}`]
  return Array.from({ length: units }, (_, each) => `+${each}`)
}

/** Returns which key has a member: those that stand for several units have a set of their own. */
export function setOf(series: number, member: string): number {
  return 4 * series - (member.includes('*') ? 1 : 2)
}

export type Exchange = (request: Request) => Promise<Response>

/** Returns the exchange of one process about one API. A Cluster keeps keys with the same text in braces on one node. */
export function createExchange(link: Pick<Link, 'run'>, prefix: string, baseUrl: string): Exchange {
  const root = `${prefix}:limiter:{${baseUrl}}`
  return async (request) => {
    const keys = request.series.flatMap((name) =>
      ['units', 'sums', 'waiting', 'deadlines'].map((part) => `${root}:${part}:${name}`),
    )
    const reply = await link.run(scripts.limiter, [`${root}:state`, ...keys], [JSON.stringify(request)])
    try {
      return readResponse(textOf(reply))
    } catch {
      throw new Error('not a response from the limiter script')
    }
  }
}

/** @throws TypeError for a reply that the limiter's script cannot have sent. */
function readResponse(text: string): Response {
  const response = JSON.parse(text, listOf) as Response
  const { epoch, turn, member, clock, sharesFrom, sharesUntil } = response
  if (Number.isFinite(epoch + turn + member + clock + sharesFrom + sharesUntil)) return response
  throw new TypeError('no number')
}

/** An empty list is an object to Redis. */
function listOf(_: string, value: unknown): unknown {
  return value instanceof Object && Object.keys(value).length === 0 ? [] : value
}
