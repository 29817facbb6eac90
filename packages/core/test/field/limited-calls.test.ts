import { expect, test } from 'vitest'
import type { RatePolicy } from '../../src/index.ts'
import { fakeTime, minute, pass, second, start } from '../fake-time.ts'
import { limitedApi } from '../limited-api.ts'

// How APIs say that a limit is used up, and when to come back.

fakeTime()

/** Makes one call to an API that refuses it once; returns its status, and the seconds between its sends. */
async function refusedOnce(
  status: number,
  headers: Record<string, string>,
  policy: RatePolicy = { limits: [] },
) {
  const { call, answers, sentAt, tokens } = limitedApi(policy)
  await tokens.warmUp()
  answers.push({ status, result: `${status}`, header: (name) => headers[name] })
  const called = call()
  await pass(10 * minute)
  const [first = 0, again] = sentAt
  return { result: await called, after: again === undefined ? undefined : (again - first) / second }
}

const inSeconds = (seconds: number, unit: number): string =>
  String(Math.round((start / second + seconds) * unit))

test.each<[string, Record<string, string>, number]>([
  ['a fraction (urllib3/urllib3#2861)', { 'retry-after': '2.503' }, 2.5],
  ['an epoch (ArjanCodes/moneysnake#24)', { 'retry-after': inSeconds(7, 1) }, 7],
  ['more than a lifetime (urllib3/urllib3#3743)', { 'retry-after': '9999999999' }, 300],
  [
    'an epoch in milliseconds (RocketChat/docs-old#1358)',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(7, 1e3) },
    7,
  ],
  [
    'an epoch in microseconds (pubg/api-documentation-content#61)',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(7, 1e6) },
    7,
  ],
  [
    'a date (wraithgar/hapi-rate-limit#18)',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': new Date(start + 7 * second).toString() },
    7,
  ],
  [
    'seconds to go (zalando/restful-api-guidelines#379)',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '7' },
    7,
  ],
])('a 429 that says when to come back by %s is heeded', async (_what, headers, expected) => {
  const { result, after = 0 } = await refusedOnce(429, headers)
  expect(result).toBe('Bearer token-1')
  expect(after).toBeGreaterThanOrEqual(expected)
  expect(after).toBeLessThan(expected + 1.5)
})

test.each<[string, Record<string, string>]>([
  ['0 (kubescape/kubevuln#754)', { 'retry-after': '0' }],
  [
    'a date that has passed (kubescape/kubevuln#754)',
    { 'retry-after': new Date(start - second).toUTCString() },
  ],
  ['nothing (JustinBeckwith/linkinator#681)', {}],
])('a 429 that says %s is sent again after a backoff', async (_what, headers) => {
  const { result, after = 0 } = await refusedOnce(429, headers)
  expect(result).toBe('Bearer token-1')
  expect(after).toBeGreaterThanOrEqual(0.25)
  expect(after).toBeLessThan(5)
})

test('a 403 for a missing permission, with calls left, is the caller\u2019s at once (github-community-projects/issue-metrics#779)', async () => {
  const policy = { limits: [], limitedStatuses: [403, 429] }
  const left = { 'x-ratelimit-remaining': '4990', 'x-ratelimit-reset': inSeconds(1_800, 1) }
  expect(await refusedOnce(403, left, policy)).toEqual({ result: '403', after: undefined })
  const none = { ...left, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(7, 1) }
  expect(await refusedOnce(403, none, policy)).toMatchObject({ result: 'Bearer token-1' })
})

test('a 403 by which an API says in headers of its own that nothing remains is a limit', async () => {
  const own = { limits: [], limitedStatuses: [403], rateLimitHeaders: { remaining: 'x-left', reset: 'x-in' } }
  const { result, after } = await refusedOnce(403, { 'x-left': '0', 'x-in': '7' }, own)
  expect(result).toBe('Bearer token-1')
  expect(after).toBeCloseTo(7, 1)
  expect(await refusedOnce(403, { 'x-left': '3', 'x-in': '7' }, own)).toEqual({
    result: '403',
    after: undefined,
  })
})
