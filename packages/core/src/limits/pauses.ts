import { Countdown } from '../time/countdown.ts'
import { count, duration, flag, object, oneOf, type Reader } from '../options/reader.ts'
import type { FixedLimit } from './rate-limiter.ts'

/** How long other calls wait for the response to the trial call, in milliseconds. */
export const longestTrial = 5_000

/** Whether an API may be called; times on the monotonic clock, in milliseconds. */
type State =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'paused'
      readonly since: number
      readonly until: number
      /** The part of it that no later response takes back: the API refused a call. */
      readonly firm: number
      /** Whether one call tries after it, and the others follow when its response has arrived. */
      readonly isTried: boolean
    }
  | { readonly kind: 'trial'; readonly limit: FixedLimit; readonly countdown: Countdown }

const open: State = { kind: 'open' }

export interface Pause {
  readonly ms: number
  readonly reason: 'refused' | 'used-up'
  readonly isTried: boolean
}

/** A pause as a word for other processes. */
export interface SaidPause extends Pause {
  /** How many refusals there have been in a row. */
  readonly row: number
}

export const readPause: Reader<SaidPause> = object<SaidPause>({
  ms: duration('0 or more'),
  reason: oneOf(['refused', 'used-up']),
  isTried: flag,
  row: count(0),
})

/** The pause of an API, and the trial after it, which is a limit of one call until its response has arrived. */
export class Pauses {
  #state: State = open

  /** Whether calls go as the limits let them. */
  isOpen = true
  /** The limit of the trial, until its response has arrived. */
  trial: FixedLimit | undefined

  /** Until when no call may be sent, if one is paused for. */
  until: number = Number.NEGATIVE_INFINITY

  /** Returns for how many milliseconds no call may be sent, 0 if one may; after a pause the trial begins. */
  wait(now: number): number {
    const state = this.#state
    if (state.kind !== 'paused') return 0
    if (state.until > now) return state.until - now
    if (state.isTried) this.try(state.since, state.until, now)
    else this.#become(open)
    return 0
  }

  /** One call may try after a pause, for as long as no other one has done so. */
  try(begin: number, end: number, now: number): void {
    // clocks and networks differ: the call that tried was sent after the middle of the pause, the one that caused it before
    const limit = { series: 'trial', quota: 1, since: (begin + end) / 2, until: now + longestTrial }
    this.#become({ kind: 'trial', limit, countdown: new Countdown(longestTrial) })
  }

  /** Returns the limit of a trial that has lasted as long as it may; one in which the process stood still is made longer. */
  overdueTrial(now: number): FixedLimit | undefined {
    const state = this.#state
    if (state.kind !== 'trial' || now < state.limit.until) return undefined
    const { limit, countdown } = state
    const { left } = countdown
    if (left < 1) return limit
    this.trial = { ...limit, until: now + left }
    this.#state = { ...state, limit: this.trial }
    return undefined
  }

  #become(state: State): void {
    if (this.#state.kind === 'trial') this.#state.countdown.stop()
    this.#state = state
    this.isOpen = state.kind === 'open'
    this.until = state.kind === 'paused' ? state.until : Number.NEGATIVE_INFINITY
    this.trial = state.kind === 'trial' ? state.limit : undefined
  }

  begin({ ms, reason, isTried }: Pause, now: number, since: number = now): void {
    const until = now + ms
    const before = this.#state.kind === 'paused' && this.#state.until > now ? this.#state : undefined
    this.#become({
      kind: 'paused',
      since: before?.since ?? since,
      until: Math.max(until, before?.until ?? until),
      firm: Math.max(reason === 'refused' ? until : now, before?.firm ?? now),
      isTried: isTried || before?.isTried === true,
    })
  }

  /** Shortens the pause to what the API asked for when it refused a call. Returns whether the pause is over. */
  shorten(now: number): boolean {
    const state = this.#state
    if (state.kind !== 'paused' || state.until <= now) return false
    this.#become(state.firm > now ? { ...state, until: state.firm } : open)
    return state.firm <= now
  }

  end(): void {
    this.#become(open)
  }
}
