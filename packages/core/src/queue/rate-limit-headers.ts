import type { RateLimit } from './rate-policy.ts'
import { parseHttpDate } from '../time/retry-after.ts'
import { delayOf, parseRetryAfter } from '../time/retry-after.ts'

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number
  readonly retryAfter?: string | null | undefined
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
/** Before `RateLimit` there were `…-Remaining` and `…-Reset`. GitHub has the second prefix, Okta and X the third. */
const prefixes = ['ratelimit', 'x-ratelimit', 'x-rate-limit']
/** When to call again, in an API without `Retry-After`; Symfony has the second name. */
const resets = ['ratelimit-reset', 'x-ratelimit-retry-after', 'x-ratelimit-reset', 'x-rate-limit-reset']

/**
 * Returns the milliseconds that a response asks to pause for, `undefined` if it names none: by `Retry-After`, else by
 * the used up quotas of `RateLimit`, else by one of its predecessors.
 *
 * @param policy says whether more than `Retry-After` is read.
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export function readPause(
  response: ResponseHead,
  { rateLimitHeaders }: { readonly rateLimitHeaders: boolean },
): number | undefined {
  const asked = parseRetryAfter(response.retryAfter, () => clockOf(response))
  if (asked !== undefined || !rateLimitHeaders) return asked
  const usedUp = quotasOf(response).flatMap(({ remaining, resetIn }) => (remaining === 0 ? [resetIn] : []))
  const pauses = [Math.max(0, ...usedUp), ...resets.map((name) => readReset(response, name) ?? 0)]
  // a reset within this second is written as 0, and names no pause
  return pauses.find((pause) => pause > 0)
}

/** Returns what remains of the tightest quota, `undefined` where the response does not say. */
export function readRemaining(response: ResponseHead): RemainingQuota | undefined {
  const [tightest] = quotasOf(response).toSorted((a, b) => a.remaining - b.remaining || b.resetIn - a.resetIn)
  return tightest ?? readPredecessors(response)
}

function readPredecessors(response: ResponseHead): RemainingQuota | undefined {
  for (const prefix of prefixes) {
    const remaining = numberOf(textOf(response, `${prefix}-remaining`))
    const resetIn = remaining === undefined ? undefined : readReset(response, `${prefix}-reset`)
    if (remaining !== undefined && resetIn !== undefined) return { remaining, resetIn }
  }
  return undefined
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
function quotasOf(response: ResponseHead): readonly RemainingQuota[] {
  const members = membersOf(textOf(response, 'ratelimit'))
  const pairs = members.map(({ parameters }) => [parameters.get('r'), parameters.get('t')])
  const valueOf = (name: string): string | undefined =>
    members.find(({ value }) => value.startsWith(`${name}=`))?.value.slice(name.length + 1)
  const quotas: RemainingQuota[] = []
  for (const [r, t] of [...pairs, [valueOf('remaining'), valueOf('reset')]]) {
    const remaining = numberOf(r)
    const seconds = numberOf(t)
    if (remaining !== undefined && seconds !== undefined)
      quotas.push({ remaining, resetIn: delayOf(seconds, () => clockOf(response)) })
  }
  return quotas
}

function readReset(response: ResponseHead, name: string): number | undefined {
  const text = textOf(response, name)
  const number = numberOf(text)
  const now = (): number => clockOf(response)
  return number === undefined ? parseRetryAfter(text, now) : delayOf(number, now)
}

/** The API's clock, since ours may be an hour off. */
function clockOf(response: ResponseHead): number {
  return parseHttpDate(textOf(response, 'date')) ?? Date.now()
}

function textOf(response: ResponseHead, name: string): string | undefined {
  const text = response.header?.(name)
  return typeof text === 'string' && text.length <= longestHeader ? text.trim() : undefined
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined
}

interface Member {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

/** The members of a list and their parameters (RFC 9651 §3.1), as far as these fields need them. */
function membersOf(text: string | undefined): Member[] {
  if (!text) return []
  // a comma or semicolon within quotes is part of a name
  const pieces = text.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? []
  return pieces.map((piece) => {
    const [value = '', ...rest] = piece.match(/(?:"(?:[^"\\]|\\.)*"|[^";])+/g) ?? []
    const parameters = rest.map((parameter): [string, string] => {
      const [name = '', ...given] = parameter.split('=')
      return [name.trim().toLowerCase(), unquoted(given.join('='))]
    })
    return { value: value.trim(), parameters: new Map(parameters) }
  })
}

function unquoted(text: string): string {
  return /^\s*"?([^"]*)"?\s*$/.exec(text)?.[1]?.trim() ?? text
}
