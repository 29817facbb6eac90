import type { Answer } from './rate-limiter.ts'
import type { CheckedPolicy, PolicyResponse, RateLimit, RateLimitHeaders } from './rate-policy.ts'
import { refuse, refusingTo } from '../options/check.ts'
import { readInstant } from '../time/read-instant.ts'
import { readWait, retryAfter, unitOf } from '../time/read-wait.ts'

/** Status and headers of a response. */
export interface ResponseHead {
  /** HTTP status code. */
  readonly status: number
  /**
   * The `Retry-After` header.
   *
   * @defaultValue what `header` returns for it
   */
  readonly retryAfter?: string | null | undefined
  /**
   * Returns the value of any response header by its lower-case name, several values joined by a comma. Called while
   * `report` runs, to read what the API says about its token and its rate limit; an adapter without access to headers omits it.
   */
  readonly header?: ((name: string) => string | null | undefined) | undefined
}

export interface RemainingQuota {
  /** Calls until the reset. */
  readonly remaining: number
  /** Milliseconds until the reset. */
  readonly resetIn: number
}

/** A longer header is ignored. */
const longestHeader = 1_024

/** Headers that name a quota, and the first of these that says when it is whole again. */
interface QuotaHeaders extends Omit<RateLimitHeaders, 'reset'> {
  readonly resets: readonly string[]
  /** What is meant where none does. */
  readonly unsaid?: number
}
/**
 * Before `RateLimit` there were `…-remaining` and `…-reset`. GitHub has the second prefix, Okta and X the third; Symfony and
 * Discord have other resets.
 */
const common: readonly QuotaHeaders[] = [
  { remaining: 'ratelimit', resets: [] },
  { remaining: 'ratelimit-remaining', resets: ['ratelimit-reset'] },
  {
    remaining: 'x-ratelimit-remaining',
    resets: ['x-ratelimit-retry-after', 'x-ratelimit-reset-after', 'x-ratelimit-reset'],
  },
  { remaining: 'x-rate-limit-remaining', resets: ['x-rate-limit-reset'] },
]

/** Returns what a response says of the units of its call, which took `cost` of them. */
export function readAnswer(response: ResponseHead, cost: number, policy: CheckedPolicy): Answer {
  const { isLimited, limitedStatuses, actualCost, countsRefused } = policy
  const isRefused = isLimited
    ? answerOf('isLimited', isLimited, response)
    : limitedStatuses.includes(response.status) && namesLimit(response, policy)
  const counted = isRefused ? (countsRefused ? cost : 0) : actualCost && costOf(response, actualCost)
  // a client that keeps no connection has asked for its end
  const closes = textOf(response, 'connection')?.toLowerCase() === 'close' || undefined
  return { isRefused, cost: counted ?? cost, closes }
}

/** A status other than 429 means other things too: it is a limit where it says when to come back, or that nothing remains. */
function namesLimit(response: ResponseHead, { rateLimitHeaders }: CheckedPolicy): boolean {
  return (
    response.status === 429 ||
    waitOf(response, retryAfter) !== undefined ||
    readRemaining(response, rateLimitHeaders)?.remaining === 0
  )
}

function costOf(
  response: ResponseHead,
  actualCost: Exclude<CheckedPolicy['actualCost'], undefined>,
): number | undefined {
  const given: unknown = answerOf('actualCost', actualCost, response)
  const actual = typeof given === 'string' ? numberOf(given) : given
  return Number.isFinite(actual) && (actual as number) >= 0 ? (actual as number) : undefined
}

/**
 * Returns the milliseconds that a response asks to pause for, `undefined` if it names none: by `Retry-After`, else by
 * the used up quotas of `RateLimit`, else by one of its predecessors.
 *
 * @param rateLimitHeaders whether more than `Retry-After` is read.
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export function readAsked(
  response: ResponseHead,
  rateLimitHeaders: CheckedPolicy['rateLimitHeaders'],
): number | undefined {
  const asked = waitOf(response, retryAfter)
  if (asked !== undefined || rateLimitHeaders === false) return asked
  const dialects = rateLimitHeaders === true ? common : [ownHeaders(rateLimitHeaders)]
  const pauses = dialects.flatMap((names) => {
    const quotas = quotasOf(response, [names])
    const usedUp = quotas.flatMap(({ remaining, resetIn }) => (remaining === 0 ? [resetIn] : []))
    // a reset is that of a quota: it says nothing of a limit on something else, while some of the quota remains
    if (quotas.length > 0 && usedUp.length === 0) return []
    return [Math.max(0, ...usedUp)].concat(names.resets.map((name) => waitOf(response, [name]) ?? 0))
  })
  // a reset within this second is written as 0, and names no pause
  return pauses.find((pause) => pause > 0)
}

/** Returns when the response began by the API's clock, in epoch milliseconds; `undefined` for one that a cache kept. */
export function readDate(response: ResponseHead): number | undefined {
  return textOf(response, 'age') === undefined ? readInstant(textOf(response, 'date')) : undefined
}

function answerOf<T>(name: string, ask: (response: PolicyResponse) => T, response: ResponseHead): T {
  const header = (field: string): string | undefined => response.header?.(field.toLowerCase()) ?? undefined
  const answer = ask({ status: response.status, header })
  if (answer instanceof Promise)
    refusingTo('read response', () => refuse(`ratePolicy.${name}()`, 'a promise', 'an answer at once'))
  return answer
}

/** Returns what remains of the tightest quota, `undefined` where the response does not say. */
export function readRemaining(
  response: ResponseHead,
  rateLimitHeaders: CheckedPolicy['rateLimitHeaders'] = true,
): RemainingQuota | undefined {
  if (rateLimitHeaders === false) return undefined
  const quotas = quotasOf(response, rateLimitHeaders === true ? common : [ownHeaders(rateLimitHeaders)])
  if (quotas.length < 2) return quotas[0]
  return quotas.toSorted((a, b) => a.remaining - b.remaining || b.resetIn - a.resetIn)[0]
}

/** Returns the limits on calls that the headers name with their window; empty where they name none. */
export function readPolicy(response: ResponseHead): RateLimit[] {
  const text = textOf(response, 'ratelimit-policy') ?? textOf(response, 'ratelimit-limit')
  const limits: RateLimit[] = []
  if (text === undefined) return limits
  for (const member of membersOf(text)) {
    if ((member.get('qu') ?? 'requests') !== 'requests') continue
    const quota = numberOf(member.get('q') ?? member.get(''))
    const window = numberOf(member.get('w') ?? member.get('window'))
    if (quota !== undefined && window !== undefined && quota >= 1 && window > 0)
      limits.push({ quota: Math.floor(quota), window: window * 1_000 })
  }
  return limits
}

/** An API's own headers may leave out when the quota is whole again. */
function ownHeaders({ reset, ...names }: RateLimitHeaders): QuotaHeaders {
  return { ...names, resets: reset === undefined ? [] : [reset], unsaid: 0 }
}

function quotasOf(response: ResponseHead, headers: readonly QuotaHeaders[]): RemainingQuota[] {
  for (const names of headers) {
    const text = textOf(response, names.remaining)
    const quotas = text === undefined ? [] : quotasIn(text, response, names)
    if (quotas.length > 0) return quotas
  }
  return []
}

function waitOf(response: ResponseHead, names: readonly string[]): number | undefined {
  for (const name of names) {
    const text = (name === 'retry-after' && response.retryAfter) || textOf(response, name)
    const ms = text === undefined ? undefined : readWait(text, () => nowOf(response), unitOf(name))
    if (ms !== undefined) return ms
  }
  return undefined
}

/**
 * Returns the quotas that a header names: `17`, `32/40`, which is how much is used of how much, `"name";r=17;t=30`, or
 * `remaining=17, reset=30` as older drafts have it; or several.
 */
function quotasIn(
  text: string,
  response: ResponseHead,
  { resets, limit, unsaid }: QuotaHeaders,
): RemainingQuota[] {
  const quota = (left: number | undefined, wait: number | undefined): RemainingQuota[] => {
    const resetIn = wait ?? unsaid
    return left === undefined || resetIn === undefined ? [] : [{ remaining: Math.max(0, left), resetIn }]
  }
  const within = (at: string | undefined): number | undefined => readWait(at, () => nowOf(response))
  const members = membersOf(text)
  const all = new Map(members.flatMap((member) => [...member]))
  const named = [
    ...members.flatMap((member) => quota(numberOf(member.get('r')), within(member.get('t')))),
    ...quota(numberOf(all.get('remaining')), within(all.get('reset') ?? all.get('resets'))),
  ]
  if (named.length > 0) return named
  const most = numberOf(limit && textOf(response, limit)) ?? Infinity
  const resetIn = waitOf(response, resets)
  return text.split(',').flatMap((part) => {
    const [, used, of] = /(\d+)\s*\/\s*(\d+)/.exec(part) ?? []
    const left = used === undefined ? numberOf(part.trim()) : Number(of) - Number(used)
    return quota(left && Math.min(left, most), resetIn)
  })
}

/** Returns what the API's clock says, since ours may be an hour off. */
function nowOf(response: ResponseHead): number {
  return readInstant(textOf(response, 'date')) ?? Date.now()
}

function textOf(response: ResponseHead, name: string): string | undefined {
  const text = response.header?.(name)
  return typeof text === 'string' && text.length <= longestHeader ? text.trim() : undefined
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined
}

const quoted = /"(?:[^"\\]|\\.)*"/g

/** The members of a list (RFC 9651 §3.1) by their parameters, as far as these fields need them; a value has no name. */
function membersOf(text: string): Map<string, string>[] {
  // one that lacks a quotation mark says nothing
  if (text.replaceAll(quoted, '').includes('"')) return []
  // a comma or semicolon within quotes is part of a name
  const pieces = text.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? []
  return pieces.map((piece) => {
    const parameters = piece.match(/(?:"(?:[^"\\]|\\.)*"|[^";])+/g) ?? []
    return new Map(
      parameters.map((parameter): [string, string] => {
        const [, name = '', value = ''] = /^(?:([\w*.-]+)=)?"?(.*?)"?$/.exec(parameter.trim()) ?? []
        return [name.toLowerCase(), value]
      }),
    )
  })
}
