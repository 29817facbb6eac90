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

const shared = { rejectedAt: Number.NEGATIVE_INFINITY, maxWait: 15_000 }

/** Renews if it is due at once. */
function mayRenew(backoff: RejectionBackoff, refused: AccessToken, wasRenewed: boolean): boolean {
  const isDue = backoff.untilRenewal(refused, wasRenewed) === 0
  if (isDue) backoff.renewed(refused)
  return isDue
}

test('the second renewal comes a second after the first, and not 1 ms before', () => {
  const backoff = new RejectionBackoff(shared)
  expect(mayRenew(backoff, token(), false)).toBe(true)
  vi.advanceTimersByTime(999)
  expect(mayRenew(backoff, token(), false)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(mayRenew(backoff, token(), false)).toBe(true)
})

test('renewals that bring nothing are ever further apart, up to a minute', () => {
  const backoff = new RejectionBackoff(shared)
  const gaps: number[] = []
  let last = performance.now()
  while (gaps.length < 12) {
    if (mayRenew(backoff, token(), false)) {
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
  const backoff = new RejectionBackoff(shared)
  mayRenew(backoff, token(), false)
  vi.advanceTimersByTime(3_600_000)
  expect(mayRenew(backoff, token(), true)).toBe(false)
})

test('an acceptance that was sent before the refusal says nothing about it', () => {
  const backoff = new RejectionBackoff(shared)
  mayRenew(backoff, token(), false)
  const current = token()
  const { epoch } = backoff
  mayRenew(backoff, current, true)
  backoff.accepted(current, epoch, false)
  vi.advanceTimersByTime(60_000)
  expect(mayRenew(backoff, current, false)).toBe(true)
})

test('a token that is accepted after it was refused is renewed only after a second of refusals', () => {
  const backoff = new RejectionBackoff(shared)
  mayRenew(backoff, token(), false)
  const current = token()
  mayRenew(backoff, current, true)
  backoff.accepted(current, backoff.epoch, false)
  vi.advanceTimersByTime(30_000)
  expect(mayRenew(backoff, current, false)).toBe(false)
  vi.advanceTimersByTime(999)
  expect(mayRenew(backoff, current, false)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(mayRenew(backoff, current, false)).toBe(true)
})

test('an API that has refused no good token for a minute is believed at once again', () => {
  const backoff = new RejectionBackoff(shared)
  mayRenew(backoff, token(), false)
  const current = token()
  mayRenew(backoff, current, true)
  backoff.accepted(current, backoff.epoch, false)
  vi.advanceTimersByTime(60_000)
  expect(mayRenew(backoff, current, false)).toBe(true)
})

/** Calls every 100 ms for 5 minutes with a token that is accepted, and revoked every `ms` milliseconds. */
function revokedEvery(ms: number): { lost: number; longestOutage: number; renewals: number } {
  const backoff = new RejectionBackoff(shared)
  let current = token()
  let isRevoked = false
  let outage = 0
  const outcome = { lost: 0, longestOutage: 0, renewals: 0 }
  for (let at = 100; at < 300_000; at += 100) {
    if (at % ms === 0) isRevoked = true
    const wait = isRevoked ? backoff.untilRenewal(current, false) : undefined
    if (wait === 0) {
      backoff.renewed(current)
      current = token()
      isRevoked = false
      backoff.accepted(current, backoff.epoch, true)
      outcome.renewals += 1
    } else if (!isRevoked) backoff.accepted(current, backoff.epoch, false)
    else if (wait === undefined) outcome.lost += 1
    outage = isRevoked ? outage + 100 : 0
    outcome.longestOutage = Math.max(outcome.longestOutage, outage)
    vi.advanceTimersByTime(100)
  }
  return outcome
}

test.each([5_000, 8_000, 15_000])('a token that is revoked every %d ms loses no call', (ms) => {
  expect(revokedEvery(ms)).toMatchObject({ lost: 0, longestOutage: 0 })
})

test('a token that is revoked every second is used for 5 s at most after it was revoked', () => {
  expect(revokedEvery(1_000).longestOutage).toBeLessThanOrEqual(5_000)
})

test.each([200, 1_000, 3_000])('a token that is revoked every %d ms costs a renewal every 5 s', (ms) => {
  const { renewals } = revokedEvery(ms)
  expect(renewals).toBeLessThanOrEqual(5 + 60)
})

test('a token that was good for 10 s makes the next renewal the first again', () => {
  const backoff = new RejectionBackoff(shared)
  for (let renewal = 0; renewal < 7; renewal += 1) {
    mayRenew(backoff, token(), false)
    vi.advanceTimersByTime(60_000)
  }
  backoff.accepted(token(), backoff.epoch, false)
  expect(mayRenew(backoff, token(), false)).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect(mayRenew(backoff, token(), false)).toBe(true)
})

test('a token that was accepted and is refused within the second is waited for: until 1 s after the renewal', () => {
  const backoff = new RejectionBackoff(shared)
  const [first, second] = [token(), token()]
  mayRenew(backoff, first, false)
  backoff.accepted(second, backoff.epoch, true)
  expect(backoff.untilRenewal(second, false)).toBe(1_000)
  vi.advanceTimersByTime(999)
  expect(backoff.untilRenewal(second, false)).toBe(1)
  vi.advanceTimersByTime(1)
  expect(backoff.untilRenewal(second, false)).toBe(0)
})

test('the sixth renewal in a row comes 5 s after the fifth, of which a call waits for the last second', () => {
  const backoff = new RejectionBackoff(shared)
  let current = token()
  for (let renewal = 0; renewal < 5; renewal += 1) {
    if (renewal > 0) vi.advanceTimersByTime(1_000)
    expect(mayRenew(backoff, current, false)).toBe(true)
    current = token()
    backoff.accepted(current, backoff.epoch, true)
  }
  vi.advanceTimersByTime(3_999)
  expect(backoff.untilRenewal(current, false)).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(backoff.untilRenewal(current, false)).toBe(1_000)
})

test('a token that this API has not accepted since its renewal is not waited for', () => {
  const backoff = new RejectionBackoff(shared)
  mayRenew(backoff, token(), false)
  expect(backoff.untilRenewal(token(), false)).toBeUndefined()
})

test('a token that is refused to the call that it was renewed for is not waited for', () => {
  const backoff = new RejectionBackoff(shared)
  mayRenew(backoff, token(), false)
  const current = token()
  backoff.accepted(current, backoff.epoch, false)
  expect(backoff.untilRenewal(current, true)).toBeUndefined()
  expect(backoff.untilRenewal(current, false)).toBeUndefined()
})

test('a call does not wait longer than its issuer allows', () => {
  const backoff = new RejectionBackoff({ ...shared, maxWait: 500 })
  mayRenew(backoff, token(), false)
  const current = token()
  backoff.accepted(current, backoff.epoch, true)
  vi.advanceTimersByTime(499)
  expect(backoff.untilRenewal(current, false)).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(backoff.untilRenewal(current, false)).toBe(500)
})

test('a renewal that another API of the issuer forced is a second before the next as well', () => {
  const backoff = new RejectionBackoff({ ...shared, rejectedAt: performance.now() })
  vi.advanceTimersByTime(400)
  expect(backoff.untilRenewal(token(), false)).toBe(600)
})

test('a token that this API has neither accepted nor had renewed is waited for', () => {
  const changing = { ...shared }
  const backoff = new RejectionBackoff(changing)
  mayRenew(backoff, token(), false)
  backoff.accepted(token(), backoff.epoch, true)
  vi.advanceTimersByTime(1_000)
  // another API has the next one renewed
  changing.rejectedAt = performance.now()
  expect(backoff.untilRenewal(token(), false)).toBe(1_000)
})

test('a late response to the token that was dropped says nothing about its successor', () => {
  const backoff = new RejectionBackoff(shared)
  const first = token()
  mayRenew(backoff, first, false)
  backoff.accepted(first, backoff.epoch, false)
  expect(backoff.untilRenewal(token(), false)).toBeUndefined()
})
