import { mustBeBoolean, mustBeList, mustBeNumber, mustBeObject } from './allowed.ts'
import { longestTime } from './faults/failure.ts'
import type { DelayRange } from './faults/random-delay.ts'
import { realms, type Realm } from './realm.ts'
import type { StrictRatePolicy } from './api/strict-rate.ts'

export interface SandboxOptions {
  /**
   * Lifetime of the tokens of both issuers, in milliseconds; 1 to 31_536_000_000 (365 days). What is no whole
   * number of seconds is sent as a fraction in `expires_in`.
   *
   * @defaultValue 3_600_000
   */
  tokenLifetime?: number
  /**
   * How many records each API has; 0 to 9_999_999.
   *
   * @defaultValue 5_000
   */
  records?: number
  /** Rate policies that the APIs enforce. Default: an API without one takes any rate. */
  ratePolicies?: Partial<Record<Realm, StrictRatePolicy>>
  /**
   * A network that is slow and uneven: each call waits so long before its API counts it, and each answer
   * before it is sent. Tokens are requested without it. Default: no delay.
   */
  delays?: DelayRange
}

/** The options with every default filled in. */
export interface CheckedOptions {
  tokenLifetime: number
  records: number
  ratePolicies: Partial<Record<Realm, StrictRatePolicy>>
  delays: DelayRange | undefined
}

const longestLifetime = 31_536_000_000

/** @throws TypeError naming the option, what is allowed and what was given. */
export function checkOptions(options: SandboxOptions): CheckedOptions {
  mustBeObject('options', options, ['tokenLifetime', 'records', 'ratePolicies', 'delays'])
  const { tokenLifetime = 3_600_000, records = 5_000, ratePolicies = {}, delays } = options
  mustBeObject('ratePolicies', ratePolicies, realms)
  for (const realm of realms) checkRatePolicy(`ratePolicies.${realm}`, ratePolicies[realm])
  if (delays !== undefined) checkDelays(delays)
  return {
    tokenLifetime: checkLifetime('tokenLifetime', tokenLifetime),
    records: mustBeNumber('records', records, { min: 0, max: 9_999_999, whole: true }),
    ratePolicies,
    delays,
  }
}

export function checkLifetime(name: string, given: unknown): number {
  return mustBeNumber(name, given, { min: 1, max: longestLifetime })
}

function checkDelays(delays: unknown): void {
  const { min, max } = mustBeObject('delays', delays, ['min', 'max'])
  const least = mustBeNumber('delays.min', min, { min: 0, max: longestTime })
  mustBeNumber('delays.max', max, { min: least, max: longestTime })
}

function checkRatePolicy(name: string, policy: unknown): void {
  if (policy === undefined) return
  const { limits, retryAfter = true } = mustBeObject(name, policy, ['limits', 'retryAfter'])
  mustBeBoolean(`${name}.retryAfter`, retryAfter)
  for (const [index, limit] of mustBeList(`${name}.limits`, limits).entries()) {
    const { quota, window } = mustBeObject(`${name}.limits[${index}]`, limit, ['quota', 'window'])
    mustBeNumber(`${name}.limits[${index}].quota`, quota, {
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      whole: true,
    })
    mustBeNumber(`${name}.limits[${index}].window`, window, { min: 1, max: longestTime })
  }
}
