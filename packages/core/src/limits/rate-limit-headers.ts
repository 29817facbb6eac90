import type { CheckedPolicy, PolicyResponse, RateLimit, RateLimitHeaders } from './rate-policy.ts'
import { refuse, refusingTo } from '../options/check.ts'
import { readInstant } from '../time/read-instant.ts'
import { readRetryAfter, readWait, unitOf } from '../time/read-wait.ts'

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

/** The remaining quota that an API reports. */
export interface RemainingQuota {
  /** Calls until the reset. */
  readonly remaining: number
  /** Milliseconds until the reset. */
  readonly resetIn: number
}

/** A longer header is ignored. */
const longestHeader = 1_024
/** Before `RateLimit` there were `…-remaining` and `…-reset`. GitHub has the second prefix, Okta and X the third. */
const predecessors = ['ratelimit', 'x-ratelimit', 'x-rate-limit'].map((prefix) => ({
  remaining: `${prefix}-remaining`,
  reset: `${prefix}-reset`,
}))
/** When to call again, in an API without `Retry-After`; Symfony has the second name. */
const resets = ['ratelimit-reset', 'x-ratelimit-retry-after', 'x-ratelimit-reset', 'x-rate-limit-reset']

/**
 * Whether a response says that a limit was exceeded. A status other than 429 means other things too: it is a limit where it
 * says when to come back, or that nothing remains.
 */
export function isRefusal(
  response: ResponseHead,
  { limitedStatuses, isLimited }: Pick<CheckedPolicy, 'limitedStatuses' | 'isLimited'>,
): boolean {
  if (isLimited !== undefined) return answerOf('isLimited', isLimited, response)
  if (!limitedStatuses.includes(response.status)) return false
  return (
    response.status === 429 ||
    retryAfterOf(response) !== undefined ||
    readRemaining(response)?.remaining === 0
  )
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
  const asked = retryAfterOf(response)
  if (asked !== undefined || rateLimitHeaders === false) return asked
  if (rateLimitHeaders !== true) {
    const own = ownQuotaOf(response, rateLimitHeaders)
    return own?.remaining === 0 && own.resetIn > 0 ? own.resetIn : undefined
  }
  const usedUp = quotasOf(response).filter(({ remaining }) => remaining === 0)
  // a reset is that of a quota: it says nothing of a limit on something else, while some of the quota remains
  const others = (predecessorOf(response)?.remaining ?? 0) > 0 ? [] : resets
  const pauses = [
    Math.max(0, ...usedUp.map(({ resetIn }) => resetIn)),
    ...others.map((name) => resetOf(response, textOf(response, name)) ?? 0),
  ]
  // a reset within this second is written as 0, and names no pause
  return pauses.find((pause) => pause > 0)
}

function retryAfterOf(response: ResponseHead): number | undefined {
  return readRetryAfter(
    (name) => (name === 'retry-after' && response.retryAfter) || textOf(response, name),
    clockOf(response),
  )
}

export function settledCost(
  response: ResponseHead,
  isRefused: boolean,
  demand: { readonly cost: number },
  { actualCost, countsRefused }: Pick<CheckedPolicy, 'actualCost' | 'countsRefused'>,
): number {
  if (isRefused) return countsRefused ? demand.cost : 0
  const given: unknown = actualCost && answerOf('actualCost', actualCost, response)
  // as headers have it
  const actual = typeof given === 'string' ? numberOf(given) : given
  return Number.isFinite(actual) && (actual as number) >= 0 ? (actual as number) : demand.cost
}

/** Returns when the response began by the API's clock, in epoch milliseconds; `undefined` for one that a cache kept. */
export function readDate(response: ResponseHead): number | undefined {
  return textOf(response, 'age') === undefined ? readInstant(textOf(response, 'date')) : undefined
}

/** Calls a function of a policy with a response. */
function answerOf<T>(name: string, ask: (response: PolicyResponse) => T, response: ResponseHead): T {
  const header = (field: string): string | undefined => response.header?.(field.toLowerCase()) ?? undefined
  const answer = ask({ status: response.status, header })
  if (answer instanceof Promise)
    refusingTo('read response', () => refuse(`ratePolicy.${name}()`, 'a promise', 'an answer at once'))
  return answer
}

/** Returns what an API's own headers say: what remains, or how much is used of how much. */
function ownQuotaOf(
  response: ResponseHead,
  { remaining, reset, limit }: RateLimitHeaders,
): RemainingQuota | undefined {
  const text = textOf(response, remaining)
  const [, used, of] = /(\d+)\s*\/\s*(\d+)/.exec(text ?? '') ?? []
  const whole = numberOf(limit && textOf(response, limit))
  const left = used === undefined ? numberOf(text) : Number(of) - Number(used)
  if (left === undefined) return undefined
  const usedUp = whole === undefined ? left : Math.min(left, whole)
  return {
    remaining: Math.max(0, usedUp),
    resetIn: (reset && readWait(textOf(response, reset), clockOf(response), unitOf(reset))) || 0,
  }
}

/** Returns what remains of the tightest quota, `undefined` where the response does not say. */
export function readRemaining(
  response: ResponseHead,
  rateLimitHeaders: CheckedPolicy['rateLimitHeaders'] = true,
): RemainingQuota | undefined {
  if (typeof rateLimitHeaders === 'object') return ownQuotaOf(response, rateLimitHeaders)
  const [tightest] = quotasOf(response).toSorted((a, b) => a.remaining - b.remaining || b.resetIn - a.resetIn)
  return tightest ?? predecessorOf(response)
}

/** Returns the limits on calls that the headers name with their window; empty where they name none. */
export function readPolicy(response: ResponseHead): RateLimit[] {
  const text = textOf(response, 'ratelimit-policy') ?? textOf(response, 'ratelimit-limit')
  const limits: RateLimit[] = []
  for (const { value, parameters } of membersOf(text)) {
    if ((parameters.get('qu') ?? 'requests') !== 'requests') continue
    const quota = numberOf(parameters.get('q') ?? value)
    const window = numberOf(parameters.get('w') ?? parameters.get('window'))
    if (quota !== undefined && window !== undefined && quota >= 1 && window > 0)
      limits.push({ quota: Math.floor(quota), window: window * 1_000 })
  }
  return limits
}

/** The quotas of the `RateLimit` field: `"name";r=…;t=…`, or `remaining=…, reset=…` as older drafts have it. */
function quotasOf(response: ResponseHead): RemainingQuota[] {
  const text = textOf(response, 'ratelimit')
  if (text === undefined) return []
  const members = membersOf(text)
  const valueOf = (name: string): string | undefined =>
    members.find(({ value }) => value.startsWith(`${name}=`))?.value.slice(name.length + 1)
  return [
    ...members.flatMap(({ parameters }) => quotaOf(response, parameters.get('r'), parameters.get('t'))),
    ...quotaOf(response, valueOf('remaining'), valueOf('reset')),
  ]
}

function predecessorOf(response: ResponseHead): RemainingQuota | undefined {
  for (const { remaining, reset } of predecessors) {
    const left = textOf(response, remaining)
    const quota = left && quotaOf(response, left, textOf(response, reset))[0]
    if (quota) return quota
  }
  return undefined
}

/** Returns the quota of two texts, none where they are no numbers. */
function quotaOf(
  response: ResponseHead,
  left: string | undefined,
  reset: string | undefined,
): RemainingQuota[] {
  const remaining = numberOf(left)
  const resetIn = resetOf(response, reset)
  return remaining === undefined || resetIn === undefined ? [] : [{ remaining, resetIn }]
}

/** Returns the milliseconds until a reset, which is in seconds, as an epoch or as a date. */
function resetOf(response: ResponseHead, text: string | undefined): number | undefined {
  return readWait(text, clockOf(response))
}

/** Returns the API's clock, since ours may be an hour off. */
function clockOf(response: ResponseHead): () => number {
  return () => readInstant(textOf(response, 'date')) ?? Date.now()
}

function textOf(response: ResponseHead, name: string): string | undefined {
  const text = response.header?.(name)
  return typeof text === 'string' && text.length <= longestHeader ? text.trim() : undefined
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined
}

/** The members of a list and their parameters (RFC 9651 §3.1), as far as these fields need them. */
function membersOf(text: string | undefined): { value: string; parameters: Map<string, string> }[] {
  // a comma or semicolon within quotes is part of a name
  const pieces = text?.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? []
  return pieces.map((piece) => {
    const [value = '', ...rest] = piece.match(/(?:"(?:[^"\\]|\\.)*"|[^";])+/g) ?? []
    const parameters = rest.map((parameter): [string, string] => {
      const [name = '', ...given] = parameter.split('=')
      return [name.trim().toLowerCase(), given.join('=').trim().replaceAll(/^"|"$/g, '')]
    })
    return { value: value.trim(), parameters: new Map(parameters) }
  })
}
