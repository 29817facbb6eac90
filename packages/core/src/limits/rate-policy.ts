import { type CalendarWindow, calendarWindows, formatOf } from './calendar.ts'
import { type LimitedCall, readMatch } from './match.ts'
import { refuse } from '../options/check.ts'
import {
  aFunction,
  count,
  duration,
  fitting,
  flag,
  list,
  object,
  oneOf,
  optional,
  type ReadAs,
  type Reader,
  statusCodes,
  text,
} from '../options/reader.ts'

/** At most `quota` calls in any `window` milliseconds. */
export interface RateLimit {
  readonly quota: number
  readonly window: number
}

/** At most `quota` calls, or units of their cost, in any `window`. */
export interface Limit {
  /** How many calls the API allows in one window, 1 or more; with `cost`, how many units. */
  readonly quota: number
  /**
   * The length of a sliding window in milliseconds, 10 or more: 1_000 for a second, 60_000 for a minute. Below 1_000, more
   * than one call per millisecond is refused, because the window was probably given in seconds. Or a window of the
   * calendar, which begins with the second, minute, hour, day or month by the API's clock, as its `Date` header shows it;
   * calls near an edge count on both sides of it.
   */
  readonly window: number | CalendarWindow
  /**
   * The time zone in which a window of the calendar begins, such as `'America/Los_Angeles'`.
   *
   * @defaultValue 'UTC'
   */
  readonly timeZone?: string | undefined
  /** Limits of the same name are one limit, whichever APIs of the manager have it. Statuses and events name it. */
  readonly name?: string | undefined
  /**
   * Which calls count: a method, a path below `baseUrl`, or both, or a list of them. `*` as the last segment stands for
   * everything below, elsewhere for one segment. A named segment makes a limit of its own for each value:
   * `'/bases/:base/*'`.
   *
   * @defaultValue every call
   */
  readonly match?: string | readonly string[] | undefined
}

/** Status and headers of a response, as a function of a policy reads them. */
export interface PolicyResponse {
  readonly status: number
  /** Returns the value of a header by its name in lower case. */
  header(name: string): string | undefined
}

/** The names of an API's own headers, in lower case. */
export interface RateLimitHeaders {
  /**
   * What remains of the quota: `17`, or how much of it is used: `32/40`, `api-usage=113/5000000`; or both that and the reset
   * in the forms of `RateLimit`: `"name";r=17;t=30`, `total=40; remaining=17; resets=30`. Of several the tightest counts.
   */
  readonly remaining: string
  /** When the quota is whole again, in any form: seconds, an epoch, a date, a span; milliseconds if the name ends in `-ms`. */
  readonly reset?: string | undefined
  /** The quota: what is said to remain beyond it is not believed. */
  readonly limit?: string | undefined
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
   * Limits that all apply together; may be empty. A unit is taken when a call is sent, and freed one window
   * after the latest moment at which the call can have arrived. So the server never counts more than `quota` calls from
   * this manager in any `window`, as long as `unansweredGrace` holds.
   */
  readonly limits: readonly Limit[]
  /**
   * Returns how many units a call takes of each limit that it matches, 1 or more. A call that costs more than a quota is
   * refused. `tokenlane: { cost }` on a call comes first.
   *
   * @defaultValue 1
   */
  readonly cost?: ((call: LimitedCall) => number) | undefined
  /**
   * Returns how many units a call took, where only its response shows that; the rest is taken or given back. `undefined`:
   * as many as were taken before.
   */
  readonly actualCost?: ((response: PolicyResponse) => number | undefined) | undefined
  /**
   * Whether the API counts calls that it refuses for a limit. With `false` their units are given back.
   *
   * @defaultValue true
   */
  readonly countsRefused?: boolean | undefined
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
   * How long the API is paused at least after it refused a call for a limit, in milliseconds, 0 or more: for an API that
   * then refuses everything for a while.
   *
   * @defaultValue 0
   */
  readonly shortestPause?: number | undefined
  /**
   * Whether the API's rate limit headers (`RateLimit`, `X-RateLimit-Remaining` and the like) may slow calls down, or the
   * names of its own. Use `false` for an API whose headers are wrong: then only `Retry-After` is read.
   *
   * @defaultValue true
   */
  readonly rateLimitHeaders?: boolean | RateLimitHeaders | undefined
  /**
   * Status codes by which the API says that its rate limit was exceeded; one other than 429 counts only with
   * `Retry-After`, or where nothing remains. The API is then paused for as long as the response says, otherwise for 1 s,
   * doubling up to 60 s, and the call is sent again until the API has accepted none for long: `maxWait`, or three
   * refusals in a row.
   *
   * @defaultValue [429]
   */
  readonly limitedStatuses?: readonly number[] | undefined
  /** Returns whether a response says that a limit was exceeded, in the place of `limitedStatuses`. */
  readonly isLimited?: ((response: PolicyResponse) => boolean) | undefined
  /**
   * A queued call gains one priority for each so many milliseconds that it waits, above 0: then steady urgent calls
   * cannot keep others waiting for ever.
   *
   * @defaultValue no call gains any
   */
  readonly aging?: number | undefined
}

export type CheckedPolicy = ReadAs<
  RatePolicy,
  {
    unansweredGrace: number | undefined
    maxWait: number | undefined
    aging: number | undefined
    cost: RatePolicy['cost']
    actualCost: RatePolicy['actualCost']
    isLimited: RatePolicy['isLimited']
  }
>

const span: Reader<number> = duration('above 0')

const readTimeZone: Reader<string> = (value, path) => {
  const zone = text('the name of a time zone')(value, path)
  try {
    formatOf(zone)
  } catch {
    refuse(path, `'${zone}'`, "the name of a time zone, such as 'UTC' or 'America/Los_Angeles'")
  }
  return zone
}

const readCalendarWindow = oneOf(
  Object.keys(calendarWindows) as CalendarWindow[],
  'a number of milliseconds, or ',
)

const readLimit: Reader<Limit> = (value, path) => {
  const limit = object<
    ReadAs<Limit, { timeZone: string | undefined; name: string | undefined; match: Limit['match'] }>
  >({
    quota: count(1),
    window: (given, at) => (typeof given === 'string' ? readCalendarWindow(given, at) : span(given, at)),
    timeZone: optional(readTimeZone),
    name: optional(text('a name')),
    match: optional(readMatch),
  })(value, path)
  const { quota, window, timeZone } = limit
  if (typeof window === 'string') return limit
  if (timeZone !== undefined)
    refuse(`${path}.timeZone`, 'set', "only with a window of the calendar, such as 'day'")
  // no API counts like this: the window was given in seconds
  if (window < 10 || (window < 1_000 && quota > window))
    refuse(
      `${path}.window`,
      String(window),
      `10 ms or more, with at most one call per ms (did you mean ${window * 1_000}, which is ${window} s?)`,
    )
  return limit
}

const headerName = fitting<string>(
  (value) => typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value),
  'the name of a header',
)
const inLowerCase: Reader<string> = (value, path) => headerName(value, path).toLowerCase()
const readNames = object<ReadAs<RateLimitHeaders, { reset: string | undefined; limit: string | undefined }>>({
  remaining: inLowerCase,
  reset: optional(inLowerCase),
  limit: optional(inLowerCase),
})
const readHeaders: Reader<boolean | RateLimitHeaders> = (value, path) =>
  typeof value === 'boolean' ? value : readNames(value, path)

export const checkRatePolicy: Reader<CheckedPolicy> = object<CheckedPolicy>({
  limits: list(readLimit, 'an array of { quota, window }'),
  accounting: optional(oneOf(['strict', 'learned']), 'strict'),
  spread: optional(flag, false),
  unansweredGrace: optional(duration('0 or more')),
  concurrency: optional(count(1), Infinity),
  maxQueued: optional(count(0), Infinity),
  maxWait: optional(span),
  longestPause: optional(span, 300_000),
  shortestPause: optional(duration('0 or more'), 0),
  rateLimitHeaders: optional(readHeaders, true),
  limitedStatuses: optional(statusCodes(599, [401], '401'), [429]),
  isLimited: optional(aFunction('a function of a response')),
  aging: optional(span),
  cost: optional(aFunction('a function of a call')),
  actualCost: optional(aFunction('a function of a response')),
  countsRefused: optional(flag, true),
})

/** Returns what a limit is known by, without what is not given. */
export function namesOf({ name, match }: Limit): Pick<Limit, 'name' | 'match'> {
  return { ...(name !== undefined && { name }), ...(match !== undefined && { match }) }
}

/** How long a window lasts, in milliseconds; a month at most. */
export function lengthOf(window: Limit['window']): number {
  return typeof window === 'string' ? calendarWindows[window] : window
}
