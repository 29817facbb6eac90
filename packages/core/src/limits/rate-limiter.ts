import { has } from '../options/check.ts'
import type { Accounting } from './rate-policy.ts'

/** A limit as it holds now. Units of one `series` count together, and several limits may count them. */
export type LimitInForce = SlidingLimit | FixedLimit

/** Whether a limit holds in any window, not between two moments. */
export function isSliding(limit: LimitInForce): limit is SlidingLimit {
  return has(limit, 'window')
}

/** At most `quota` units in any `window` milliseconds. */
export interface SlidingLimit {
  readonly series: string
  readonly quota: number
  readonly window: number
}

/** At most `quota` units between two moments of the monotonic clock, in milliseconds. */
export interface FixedLimit {
  readonly series: string
  readonly quota: number
  readonly since: number
  readonly until: number
}

/** What one attempt takes: `cost` units of each of these limits. */
export interface Claim {
  /** Attempts of the same key have the same limits and the same cost. */
  readonly key: string
  /** 1 or more. */
  readonly cost: number
  /** May be empty. Another array as soon as another policy, a pause or a lower pace changes them. */
  readonly limits: readonly LimitInForce[]
  /** At least so many milliseconds lie between two sends. */
  readonly interval: number
  readonly accounting: Accounting
  /** As in a rate policy. */
  readonly unansweredGrace: number | undefined
}

/** What a limiter learns of a response. */
export interface Answer {
  readonly isRefused: boolean
  /** How many units count in the end: none for a refused call that the API does not count. */
  readonly cost: number
  /** Set if its connection is closed. */
  readonly closes?: boolean | undefined
}

/** The units of one attempt. */
export interface Permit {
  /** The response arrived, so the request arrived before that. */
  answered(answer: Answer): void
  /** The attempt ended. Without a response its request may still be on the way. */
  ended(): void
  /** The attempt was never made: its units are free at once. */
  cancel(): void
}

/** Milliseconds until `take` is worth calling again; `Infinity`: wait for a response, or for `unitsAvailable`. */
export type NotBefore = number

/** What is in use of the limits of a claim; times in milliseconds. */
export interface Usage {
  /** The units in use of each limit, in the order of the claim; `undefined` while they are not known. */
  readonly used: readonly number[] | undefined
  /** How many units of any claims the limiter holds for this process alone, which attempts may take now. */
  readonly held?: number
  /** How much later than one window after its send a unit has recently been freed. */
  readonly lag: number
  /** How long after its send a request counts as arrived; `undefined` while that is not known. */
  readonly arrivesWithin: number | undefined
}

/**
 * One thing that every process should know of an API: its `pause`, its `pace`, another `policy`. The limiter passes it on
 * as it is. Of each subject the word that holds longest counts, of two equal ones the newer; one that holds for 0 ms ends it.
 */
export interface Word {
  readonly about: string
  readonly text: string
  /** Milliseconds; `Infinity`: until another one. */
  readonly for: number
}

/**
 * Keeps the units of limits, for one process or for several. Which limits hold is said with each attempt; the limiter
 * enforces them no matter when or how often it is asked.
 */
export interface RateLimiter {
  /**
   * Returns the units of one attempt, or when to ask again.
   *
   * @param wanted How many attempts with this claim could be sent now, including this one. 0: none waits any more.
   */
  take(claim: Claim, wanted: number): Permit | NotBefore
  /**
   * Returns how many milliseconds from now the `ahead`-th attempt may go, by the limits alone, if none goes before `from`
   * and each unit is freed `lag` milliseconds later than one window after its send. With a `lag` of 0 this is a lower
   * bound.
   */
  forecast(claim: Claim, ahead: number, lag: number, from?: number): number
  /**
   * Returns what is in use, for the status and for estimates; with the windows that ended at `at`, a moment of the
   * monotonic clock, if the limiter can.
   */
  usage(claim: Claim, at?: number): Usage
  /** Passes a word on to all other processes that share the units. */
  tell(word: Word): void
  /** Ends the limiter, after the last attempt. Resolves once pending updates are flushed; must not reject. */
  close(): Promise<void>
}

/** One API with a rate policy, and how its limiter reports changes to the queue. */
export interface LimitedApi {
  /** Origin and path prefix, as the WHATWG URL parser writes it. The same for every process of a fleet. */
  readonly baseUrl: string
  /** Units were freed: the queue calls `take` again before this returns. Must not be called from within `take`. */
  unitsAvailable(): void
  /** Another process said a word; it still holds for `for` milliseconds. Once for each word. */
  heard(word: Word): void
  /** Other processes got so many responses since this was called last. Before a word of the same time is passed on. */
  counted(accepted: number, refused: number): void
  /** The shared budget cannot be reached; this process uses only its own share. `reason` must hold no secret. */
  failed(reason: string): void
  /** The shared budget is in use again. */
  recovered(): void
}

/**
 * Creates the limiter of an API that has a rate policy; called once per API, at start-up. It must not keep the process
 * alive while no call waits or is under way.
 */
export interface RateLimiterFactory {
  (api: LimitedApi): RateLimiter
  /** As `TokenStore.server`. */
  server?: () => Promise<SharedServer>
}

/** Facts about the server behind a shared token store or rate limiter. They contain no address and no password. */
export interface SharedServer {
  /** The same for everything kept on this server; changes when the server restarts. */
  readonly id: string
  /** Name and version, such as `Redis 7.0.15`. */
  readonly name: string
  /** How far this machine's clock is ahead of the server's, in milliseconds. */
  readonly clockOffset: number
  /** What the server does when its memory is full; `undefined` if that could not be read. */
  readonly evictionPolicy?: string | undefined
  /** A command that the server refuses to this user, such as `INFO`, if that limits what could be read. */
  readonly refused?: string | undefined
}
