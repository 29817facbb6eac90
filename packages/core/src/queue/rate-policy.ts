import { refuse } from '../options/check.ts'
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
  statusCodes,
} from '../options/reader.ts'

/** At most `quota` calls in any `window`. */
export interface RateLimit {
  /** How many calls the API allows in one window, 1 or more. */
  readonly quota: number
  /**
   * The length of the window in milliseconds, 10 or more: 1_000 for a second, 60_000 for a minute. Below 1_000, more
   * than one call per millisecond is refused, because the window was probably given in seconds.
   */
  readonly window: number
}

/**
 * How to determine the latest time at which a request can have reached the API. Its unit is freed one window later.
 *
 * `strict` assumes what `unansweredGrace` says, and nothing else. `learned` starts that way, assumes less after each
 * window without a refusal, 2.5 times as much after the first refusal, and a tenth more after each further one.
 */
export type Accounting = 'strict' | 'learned'

/** How many calls an API allows, how fast, and how long calls may queue for it. */
export interface RatePolicy {
  /**
   * Sliding windows that all apply together; may be empty. A unit is taken when a call is sent, and freed one window
   * after the latest moment at which the call can have arrived. So the server never counts more than `quota` calls from
   * this manager in any `window`, as long as `unansweredGrace` holds.
   */
  readonly limits: readonly RateLimit[]
  /**
   * How to determine the latest time at which a call can have arrived. `learned` uses the whole quota of an API with
   * slow responses, at the price of an occasional refused call, which is sent again.
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
   * How much longer one request can take to reach the API than another, at most, in milliseconds, 0 or more. A request
   * without a response counts as arrived this long after it was sent; four times as long if it is the first on a
   * connection, which has to wait for the connection set-up. With 60_000, practically only its response shows
   * that a request has arrived.
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
   * How many calls may wait, 0 or more; any further call is refused with `QUEUE_FULL`. Calls that only wait for a token
   * are not counted.
   *
   * @defaultValue no limit
   */
  readonly maxQueued?: number | undefined
  /**
   * How long a call may wait in the queue, in milliseconds, above 0. After that it is refused with `QUEUE_TIMEOUT`; it
   * is refused at once if the limits alone would make it wait longer. A call that the API has refused is not sent again
   * after a longer pause than this.
   *
   * @defaultValue no limit
   */
  readonly maxWait?: number | undefined
  /**
   * The longest pause that a response (`Retry-After`, a rate limit header) can impose, in milliseconds, above 0. After
   * it, a single call is sent as a trial. `tokens.resume(baseUrl)` ends a pause early.
   *
   * @defaultValue 300_000
   */
  readonly longestPause?: number | undefined
  /**
   * Whether the API's rate limit headers (`RateLimit`, `X-RateLimit-Remaining` and the like) may slow calls down. Use
   * `false` for an API whose headers are wrong: then only `Retry-After` is read.
   *
   * @defaultValue true
   */
  readonly rateLimitHeaders?: boolean | undefined
  /**
   * Status codes by which the API says that its rate limit was exceeded. The API is then paused for as long as the
   * response says (`Retry-After`, a rate limit header), otherwise for 1 s, doubling up to 60 s, and the call is sent
   * again, at most 3 times.
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

const span: Reader<number> = duration('above 0')

const readLimit: Reader<RateLimit> = (value, path) => {
  const limit = object<RateLimit>({ quota: count(1), window: span })(value, path)
  const { quota, window } = limit
  // no API counts like this: the window was given in seconds
  if (window < 10 || (window < 1_000 && quota > window))
    refuse(
      `${path}.window`,
      String(window),
      `10 ms or more, with at most one call per ms (did you mean ${window * 1_000}, which is ${window} s?)`,
    )
  return limit
}

/** Reads a rate policy, with its defaults in place. */
export const checkRatePolicy: Reader<CheckedPolicy> = object<CheckedPolicy>({
  limits: list(readLimit, 'an array of { quota, window }'),
  accounting: optional(oneOf('strict', 'learned'), 'strict'),
  spread: optional(flag, false),
  unansweredGrace: optional(duration('0 or more')),
  concurrency: optional(count(1), Infinity),
  maxQueued: optional(count(0), Infinity),
  maxWait: optional(span),
  longestPause: optional(span, 300_000),
  rateLimitHeaders: optional(flag, true),
  limitedStatuses: optional(statusCodes(599, [401], '401'), [429]),
})
