import type { RoundTripSum } from '@tokenlane/core/fleet'
import type { ReachabilityReport } from './reachability.ts'
import type { FleetPolicy } from './fleet-policy.ts'
import type { Units } from './ledger.ts'
import type { Link } from './link.ts'
import { textOf } from '../redis-client.ts'
import * as scripts from '../scripts.ts'

/** What a process states, and what it wants; times in milliseconds. */
export interface BudgetRequest extends ReachabilityReport {
  readonly policy: FleetPolicy
  /** Names the process. */
  readonly process: string
  /** Counts the requests of the process; Redis ignores a request that it has seen, or one before it. */
  readonly number: number
  /** The epoch and the turn of the last response; empty and 0 before the first one. */
  readonly epoch: string
  readonly turn: number
  /** The number of the process in its fleet, 0 before Redis has given it one. */
  readonly member: number
  /** All units of the process, for each limit of the policy. */
  readonly units: readonly (readonly Units[])[]
  /** How many more units it could use. */
  readonly wanted: number
  /** How many of them need no new connection to the API; below 1 for none. */
  readonly warm: number
  /** For how long a unit may wait until others are free, too, so that all are sent together; 0 to send each at once. */
  readonly gather: number
  /** How long after its due time a new unit is presumed to be answered; 0 for as long as in other processes. */
  readonly promise: number
  /** How long after its due time a unit is answered on average, 0 if not known. */
  readonly lag: number
  /** How long after their due times the last units were answered, as far as Redis does not know. */
  readonly times: readonly number[]
  /** Round trips to the API, as far as Redis does not know them. */
  readonly roundTrips: RoundTripSum
  /**
   * What the API still takes by its last response, how long ago that arrived, and how long it took: units, milliseconds
   * until the reset as of now, milliseconds, milliseconds. Empty where no response has said anything new.
   */
  readonly reported: readonly [] | readonly [remaining: number, resetIn: number, age: number, took: number]
  /** For how long no process may send; 0 without a pause. */
  readonly pause: number
  /** Whether the pause of all processes is lifted. */
  readonly resume: boolean
}

/** What Redis responds; times in milliseconds from now. */
export interface BudgetResponse {
  readonly epoch: string
  readonly turn: number
  readonly member: number
  /** Units and when they are due, earliest first. */
  readonly grants: readonly (readonly [due: number, count: number])[]
  /** When to ask again for what is still wanted. */
  readonly wait: number
  /** No process gets a unit before this time. */
  readonly soonest: number
  readonly pause: number
  /** Between these times each process sends its own share, since some of them may not reach Redis yet; 0 and 0 for never. */
  readonly sharesFrom: number
  readonly sharesUntil: number
  /** How long after its due time each of `grants` is presumed to be answered. */
  readonly promise: number
  /** The part of the fullest limit that all processes have in use, 0 to 1. */
  readonly used: number
  /** How many units are free now, for all processes. */
  readonly left: number
  /** Whether the process shall report what the API still takes by its next response. */
  readonly asks: boolean
  /** Round trips of all processes to the API, of the last half minute or a whole one. */
  readonly roundTrips: RoundTripSum
  /** The time on Redis' clock. */
  readonly now: number
}

const amounts = 'turn member wait soonest pause sharesFrom sharesUntil promise used left now'.split(' ')

/** Sends a request to Redis and returns the response; `'stale'` if a later request was there before. */
export type Exchange = (request: BudgetRequest) => Promise<BudgetResponse | 'stale'>

/** Returns the exchange of one process about one API. A Cluster keeps keys with the same text in braces on one node. */
export function createExchange(link: Link, prefix: string, baseUrl: string, name: string): Exchange {
  const parts = ['state', 'queue', 'deadlines', `process:${name}`]
  const keys = parts.map((part) => `${prefix}:limiter:{${baseUrl}}:${part}`)
  return async (request) => readResponse(await link.run(scripts.limiter, keys, [JSON.stringify(request)]))
}

/**
 * Returns the response in a reply of Redis.
 *
 * @throws Error for a reply that the limiter's script cannot have sent.
 */
export function readResponse(reply: unknown): BudgetResponse | 'stale' {
  const response = parse(reply)
  if (response['stale'] === true) return 'stale'
  // an empty list is an object to Redis
  const grants = Array.isArray(response['grants']) ? (response['grants'] as unknown[]) : []
  const { epoch, asks, roundTrips } = response
  const isWhole =
    amounts.every((name) => isAmount(response[name])) &&
    grants.every((grant) => areAmounts(grant, 2)) &&
    areAmounts(roundTrips, 3)
  if (typeof epoch !== 'string' || typeof asks !== 'boolean' || !isWhole)
    throw new Error('not a response from the limiter script')
  return { ...response, grants } as unknown as BudgetResponse
}

function parse(reply: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(textOf(reply))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // thrown below
  }
  throw new Error('not a response from the limiter script')
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Infinity
}

function areAmounts(value: unknown, count: number): boolean {
  return Array.isArray(value) && value.length === count && value.every(isAmount)
}
