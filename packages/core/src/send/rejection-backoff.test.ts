import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AccessToken } from '../token/access-token.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { RejectionBackoff } from './rejection-backoff.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

let tokens = 0
const token = (): AccessToken =>
  new AccessToken(`token-${(tokens += 1)}`, 'general', Expiry.of(3_600_000, moment()), {
    renewBefore: 0,
    floor: 0,
  })

test('the second renewal comes a second after the first, and not 1 ms before', () => {
  const backoff = new RejectionBackoff()
  expect(backoff.mayRenew(token(), false)).toBe(true)
  vi.advanceTimersByTime(999)
  expect(backoff.mayRenew(token(), false)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(backoff.mayRenew(token(), false)).toBe(true)
})

test('renewals that bring nothing are ever further apart, up to a minute', () => {
  const backoff = new RejectionBackoff()
  const gaps: number[] = []
  let last = performance.now()
  while (gaps.length < 12) {
    if (backoff.mayRenew(token(), false)) {
      gaps.push(performance.now() - last)
      last = performance.now()
    }
    vi.advanceTimersByTime(100)
  }
  for (const [index, gap] of gaps.slice(1).entries()) {
    const whole = Math.min(60_000, 1_000 * 2 ** index)
    expect(gap).toBeGreaterThanOrEqual(whole / 2)
    expect(gap).toBeLessThanOrEqual(whole + 100)
  }
})

test('a token that was renewed for a call is not renewed when it is refused to that call', () => {
  const backoff = new RejectionBackoff()
  backoff.mayRenew(token(), false)
  vi.advanceTimersByTime(3_600_000)
  expect(backoff.mayRenew(token(), true)).toBe(false)
})

test('an acceptance that was sent before the refusal says nothing about it', () => {
  const backoff = new RejectionBackoff()
  backoff.mayRenew(token(), false)
  const current = token()
  const { epoch } = backoff
  backoff.mayRenew(current, true)
  backoff.accepted(current, epoch, false)
  vi.advanceTimersByTime(60_000)
  expect(backoff.mayRenew(current, false)).toBe(true)
})

test('a token that is accepted after it was refused is renewed only after a second of refusals', () => {
  const backoff = new RejectionBackoff()
  backoff.mayRenew(token(), false)
  const current = token()
  backoff.mayRenew(current, true)
  backoff.accepted(current, backoff.epoch, false)
  vi.advanceTimersByTime(30_000)
  expect(backoff.mayRenew(current, false)).toBe(false)
  vi.advanceTimersByTime(999)
  expect(backoff.mayRenew(current, false)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(backoff.mayRenew(current, false)).toBe(true)
})

test('an API that has refused no good token for a minute is believed at once again', () => {
  const backoff = new RejectionBackoff()
  backoff.mayRenew(token(), false)
  const current = token()
  backoff.mayRenew(current, true)
  backoff.accepted(current, backoff.epoch, false)
  vi.advanceTimersByTime(60_000)
  expect(backoff.mayRenew(current, false)).toBe(true)
})

/** Calls every 100 ms for 5 minutes with a token that is accepted, and revoked every so many milliseconds. */
function revokedEvery(ms: number): { lost: number; longestOutage: number } {
  const backoff = new RejectionBackoff()
  let current = token()
  let isRevoked = false
  let outage = 0
  const outcome = { lost: 0, longestOutage: 0 }
  for (let at = 100; at < 300_000; at += 100) {
    if (at % ms === 0) isRevoked = true
    if (isRevoked && backoff.mayRenew(current, false)) {
      current = token()
      isRevoked = false
      backoff.accepted(current, backoff.epoch, true)
    } else if (isRevoked) outcome.lost += 1
    else backoff.accepted(current, backoff.epoch, false)
    outage = isRevoked ? outage + 100 : 0
    outcome.longestOutage = Math.max(outcome.longestOutage, outage)
    vi.advanceTimersByTime(100)
  }
  return outcome
}

test.each([5_000, 8_000, 15_000])('a token that is revoked every %d ms loses no call', (ms) => {
  expect(revokedEvery(ms)).toEqual({ lost: 0, longestOutage: 0 })
})

test('a token that is revoked every second is used for 5 s at most after it was revoked', () => {
  expect(revokedEvery(1_000).longestOutage).toBeLessThanOrEqual(5_000)
})

test('a token that was good for 10 s makes the next renewal the first again', () => {
  const backoff = new RejectionBackoff()
  for (let renewal = 0; renewal < 7; renewal += 1) {
    backoff.mayRenew(token(), false)
    vi.advanceTimersByTime(60_000)
  }
  backoff.accepted(token(), backoff.epoch, false)
  expect(backoff.mayRenew(token(), false)).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect(backoff.mayRenew(token(), false)).toBe(true)
})
