import { PriorityQueue } from 'p-queue'
import type { AccessToken } from '../access-token.ts'
import type { ResendReason } from '../events.ts'
import type { AskingCall, Demand } from '../limits/demand.ts'
import type { RefusedCall } from '../limits/refusals.ts'
import type { Unit } from '../limits/restraint.ts'
import type { Countdown } from '../time/countdown.ts'

/** What a call holds while it is under way: a live token, a unit of every limit, and a slot until it ends. */
export interface RunningCall {
  readonly token: AccessToken
  readonly unit: Unit
}

interface CallToQueue extends AskingCall {
  /** Higher goes first; equal ones go in order. */
  readonly priority?: number | undefined
  /** Throws for a call that its client would refuse. */
  readonly mustBeRight?: (() => void) | undefined
}

/** A call that may be queued, and its place while it is. */
export interface QueuedCall extends RefusedCall {
  readonly options: CallToQueue
  /** Whether it was sent before: then it goes first and is never refused, but at the end for its limit. */
  readonly sentBefore: boolean
  /** Why it is sent again: a manager that closes does not wait for one that was refused for the API's limit. */
  readonly resend: ResendReason | undefined
  /** Gets what it holds from now on: it is sent. */
  admitted(running: RunningCall): void
  /** Returns what it fails with if it is not sent. */
  refused(reason: unknown): unknown

  /** In whole milliseconds: a part of one would be an object of its own for each call. */
  queuedAt: number
  /** What ends its wait early. */
  signal: AbortSignal | undefined
  lane: Lane | undefined
  /** Higher goes first: its priority, and what it gains while it waits. */
  rank: number
  /** How long it may wait in all. */
  countdown: Countdown | undefined
  /** Ends its wait. */
  send: ((call: this | Promise<never>) => void) | undefined
}

/** The calls of one rank, in the order in which they came. */
interface Equals {
  readonly rank: number
  readonly calls: Set<QueuedCall>
  /** Where the last one was taken: a search from the start would pass all those before it. */
  readonly inOrder: Iterator<QueuedCall>
}

/** What is used of p-queue's queue. By its own types the elements are functions, and they need types of browsers. */
interface InOrder {
  enqueue(item: Equals, options: { readonly priority: number }): void
  dequeue(): Equals | undefined
  remove(item: Equals): void
}

/**
 * The queued calls that take the same, in order: where their units are not free, those of others may be.
 *
 * Many calls have few ranks, so the ranks are sorted and not the calls.
 */
export class Lane {
  readonly demand: Demand
  /** When a call of it was sent last. */
  servedAt: number
  size = 0
  readonly #byRank = new Map<number, Equals>()
  #highest: Equals | undefined
  /** All but the highest. */
  readonly #lower = new PriorityQueue() as unknown as InOrder

  constructor(demand: Demand, servedAt: number) {
    this.demand = demand
    this.servedAt = servedAt
  }

  /** The rank of the call that goes first. */
  get rank(): number {
    return this.#highest?.rank ?? Number.NEGATIVE_INFINITY
  }

  /** Returns how many calls go before one of this rank that is added now. */
  ahead(rank: number): number {
    let ahead = 0
    for (const [other, { calls }] of this.#byRank) if (other >= rank) ahead += calls.size
    return ahead
  }

  add(call: QueuedCall): void {
    const { calls } = this.#byRank.get(call.rank) ?? this.#begin(call.rank)
    calls.add(call)
    this.size += 1
  }

  /** Takes out the call that goes first. */
  next(): QueuedCall {
    const call = this.#highest?.inOrder.next().value as QueuedCall
    this.remove(call)
    return call
  }

  remove(call: QueuedCall): void {
    const equals = this.#byRank.get(call.rank)
    if (!equals?.calls.delete(call)) return
    this.size -= 1
    if (equals.calls.size > 0) return
    this.#byRank.delete(call.rank)
    if (equals === this.#highest) this.#highest = this.#lower.dequeue()
    else this.#lower.remove(equals)
  }

  #begin(rank: number): Equals {
    const calls = new Set<QueuedCall>()
    const equals = { rank, calls, inOrder: calls.values() }
    this.#byRank.set(rank, equals)
    const isHighest = rank > this.rank
    const lower = isHighest ? this.#highest : equals
    if (isHighest) this.#highest = equals
    if (lower !== undefined) this.#lower.enqueue(lower, { priority: lower.rank })
    return equals
  }
}
