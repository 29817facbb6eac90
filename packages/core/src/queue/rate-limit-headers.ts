import type { RateLimit } from './rate-policy.ts'
import { parseHttpDate } from '../time/http-date.ts'
import { delayOf, parseRetryAfter } from '../time/retry-after.ts'

/** What is read of a response. */
export interface ResponseHead {
  readonly status: number
  readonly retryAfter?: string | null | undefined
  readonly header?: ((name: string) => string | null | undefined) | undefined
}

/** What an API says that it still takes. */
export interface RemainingQuota {
  /** Calls until the reset. */
  readonly remaining: number
  /** Milliseconds until the reset. */
  readonly resetIn: number
}

/** A header that is longer says nothing. */
const longestHeader = 1_024
/** Old drafts and the header's predecessors: how many calls are left, and until when. */
const dialects = [
  ['ratelimit-remaining', 'ratelimit-reset'],
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['x-rate-limit-remaining', 'x-rate-limit-reset'],
] as const
const none: readonly RemainingQuota[] = []
const resets = ['ratelimit-reset', 'x-ratelimit-retry-after', 'x-ratelimit-reset', 'x-rate-limit-reset']

/**
 * Returns the milliseconds that a response asks to pause for, `undefined` if it names none: by `Retry-After`, else by
 * the used up quotas of `RateLimit`, else by one of its predecessors.
 *
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export function readPause(response: ResponseHead): number | undefined {
  const asked = readRetryAfter(response)
  if (asked !== undefined) return asked
  const usedUp = quotasOf(response).flatMap(({ remaining, resetIn }) => (remaining === 0 ? [resetIn] : []))
  for (const pause of [Math.max(0, ...usedUp), ...resets.map((name) => readReset(response, name) ?? 0)])
    // a reset within this second is written as 0, and names no pause
    if (pause > 0) return pause
  return undefined
}

/** Returns the milliseconds that `Retry-After` asks for, `undefined` if it is missing or malformed. */
export function readRetryAfter(response: ResponseHead): number | undefined {
  return parseRetryAfter(response.retryAfter, clockOf(response))
}

/** Returns what the tightest quota still takes, `undefined` where the response says nothing of it. */
export function readRemaining(response: ResponseHead): RemainingQuota | undefined {
  let tightest: RemainingQuota | undefined
  for (const quota of quotasOf(response))
    if (tightest === undefined || isTighter(quota, tightest)) tightest = quota
  return tightest ?? readDialects(response)
}

function isTighter(a: RemainingQuota, b: RemainingQuota): boolean {
  return a.remaining < b.remaining || (a.remaining === b.remaining && a.resetIn > b.resetIn)
}

function readDialects(response: ResponseHead): RemainingQuota | undefined {
  for (const [remainingName, resetName] of dialects) {
    const remaining = numberOf(textOf(response, remainingName))
    const resetIn = remaining === undefined ? undefined : readReset(response, resetName)
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
  const text = textOf(response, 'ratelimit')
  // nearly every response
  if (text === undefined) return none
  const members = membersOf(text)
  const pairs = members.map(({ parameters }) => [parameters.get('r'), parameters.get('t')])
  const valueOf = (name: string): string | undefined =>
    members.find(({ value }) => value.startsWith(`${name}=`))?.value.slice(name.length + 1)
  const quotas: RemainingQuota[] = []
  for (const [r, t] of [...pairs, [valueOf('remaining'), valueOf('reset')]]) {
    const remaining = numberOf(r)
    const seconds = numberOf(t)
    if (remaining !== undefined && seconds !== undefined)
      quotas.push({ remaining, resetIn: delayOf(seconds, clockOf(response)) })
  }
  return quotas
}

function readReset(response: ResponseHead, name: string): number | undefined {
  const text = textOf(response, name)
  const number = numberOf(text)
  return number === undefined ? parseRetryAfter(text, clockOf(response)) : delayOf(number, clockOf(response))
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
