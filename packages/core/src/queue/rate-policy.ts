import { refuse, shape } from '../options/check.ts'
import {
  count,
  duration,
  flag,
  list,
  object,
  oneOf,
  optional,
  type ReadAs,
  type Reader,
} from '../options/reader.ts'

/** At most `quota` calls in any `window`. */
export interface RateLimit {
  /** How many calls the API allows in one window, 1 or more. */
  readonly quota: number
  /**
   * How long the window is, in milliseconds, 10 or more: 1_000 for a second, 60_000 for a minute. More than one call a
   * millisecond is refused below 1_000, since the window was then given in seconds.
   */
  readonly window: number
}

/**
 * How the moment is found at which a request has arrived at the API at the latest. Its unit comes free one window later.
 *
 * `strict` assumes what `unansweredGrace` says, and never more. `learned` starts like that, assumes less with each window
 * that brings no refusal, and keeps a distance from where the API refused a call.
 */
export type Accounting = 'strict' | 'learned'

/** How many calls an API allows, how fast, and how long calls may queue for it. */
export interface RatePolicy {
  /**
   * Sliding windows that all hold at once; may be empty. A unit is taken when a call is sent, and comes free one window
   * after the call has arrived at the latest. So the server never counts more than `quota` calls of this manager in any
   * `window`, as long as `unansweredGrace` holds.
   */
  readonly limits: readonly RateLimit[]
  /**
   * How the moment is found at which a call has arrived at the latest. `learned`: the whole quota of an API whose
   * responses take long, for a refused call now and then, which is sent again.
   *
   * @defaultValue 'strict'
   */
  readonly accounting?: Accounting | undefined
  /**
   * Keeps sends at least `window / quota` apart: no bursts (leaky bucket).
   *
   * @defaultValue false
   */
  readonly spread?: boolean | undefined
  /**
   * By how much longer than another request one travels to the API at most, in milliseconds, 0 or more. A request without
   * a response counts as arrived that long after its send; four times that for the first one of a connection, which
   * waits for the set-up. With 60_000 practically only responses count.
   *
   * @defaultValue 250
   */
  readonly unansweredGrace?: number | undefined
  /**
   * Calls under way at the same time, 1 or more.
   *
   * @defaultValue no limit
   */
  readonly concurrency?: number | undefined
  /**
   * How many calls may wait, 0 or more; one more is refused with `QUEUE_FULL`. Calls that only wait for a token are not
   * counted.
   *
   * @defaultValue no limit
   */
  readonly maxQueued?: number | undefined
  /**
   * How long a call may wait in the queue, in milliseconds, above 0. After that it is refused with
   * `QUEUE_TIMEOUT`, and at once where the limits alone make it wait longer. A call that the API has refused is not sent
   * again after a pause of more than this.
   *
   * @defaultValue no limit
   */
  readonly maxWait?: number | undefined
  /**
   * The longest that a response (`Retry-After`, a rate limit header) pauses the API, in milliseconds, above 0. After
   * it one call tries. `tokens.resume(baseUrl)` lifts a pause before its end.
   *
   * @defaultValue 300_000
   */
  readonly longestPause?: number | undefined
  /**
   * Whether the API's rate limit headers (`RateLimit`, `X-RateLimit-Remaining` and their like) may slow it down. `false`,
   * for an API whose headers are wrong: only `Retry-After` is read.
   *
   * @defaultValue true
   */
  readonly rateLimitHeaders?: boolean | undefined
  /**
   * Status codes by which the API refuses a call for its limit. The API then pauses as long as the response says
   * (`Retry-After`, a rate limit header), otherwise for 1 s, doubling to 60 s, and the call is sent again, at most
   * 3 times.
   *
   * @defaultValue [429]
   */
  readonly limitedStatuses?: readonly number[] | undefined
}

/** A policy that was checked, with its defaults. */
export type CheckedPolicy = ReadAs<
  RatePolicy,
  { unansweredGrace: number | undefined; maxWait: number | undefined }
>

const span: Reader<number> = duration({ positive: true })

const status: Reader<number> = (value, path) => {
  const given = value as number
  if (!Number.isInteger(given) || given < 400 || given > 599 || given === 401)
    refuse(path, shape(value), 'a status code, 400 to 599 except 401')
  return given
}

const readLimit: Reader<RateLimit> = (value, path) => {
  const limit = object<RateLimit>({ quota: count(1), window: span })(value, path)
  const { quota, window } = limit
  // no API counts like this: the window was given in seconds
  if (window < 10 || (window < 1_000 && quota > window))
    refuse(
      `${path}.window`,
      String(window),
      `milliseconds, 10 or more, and at most one call a millisecond (did you mean ${window * 1_000}, which is ${window} s?)`,
    )
  return limit
}

/** Reads a rate policy, with its defaults in place. */
export const checkRatePolicy: Reader<CheckedPolicy> = object<CheckedPolicy>({
  limits: list(readLimit, 'an array of { quota, window }'),
  accounting: optional(oneOf('strict', 'learned'), 'strict'),
  spread: optional(flag, false),
  unansweredGrace: optional(duration()),
  concurrency: optional(count(1), Infinity),
  maxQueued: optional(count(0), Infinity),
  maxWait: optional(span),
  longestPause: optional(span, 300_000),
  rateLimitHeaders: optional(flag, true),
  limitedStatuses: optional(list(status, 'an array of status codes, 400 to 599 except 401'), [429]),
})
