import { expect, test } from 'vitest'

import { rateHeaders } from './rate-headers.ts'
import type { WindowUsage } from './strict-rate.ts'

const second: WindowUsage = { quota: 25, window: 1_000, used: 5, wait: 0, reset: 400 }
const minute: WindowUsage = { quota: 100, window: 60_000, used: 98, wait: 0, reset: 59_001 }
const epoch = 1_700_000_000_500

test('the current draft names every limit, and what remains of it', () => {
  expect(rateHeaders(['ratelimit'], [second, minute], epoch)).toEqual({
    'ratelimit-policy': '"limit1";q=25;w=1, "limit2";q=100;w=60',
    ratelimit: '"limit1";r=20;t=1, "limit2";r=2;t=60',
  })
})

test('the older dialects name the limit of which least remains', () => {
  expect(rateHeaders(['ratelimit-limit'], [second, minute], epoch)).toEqual({
    'ratelimit-limit': '100',
    'ratelimit-remaining': '2',
    'ratelimit-reset': '60',
  })
  expect(rateHeaders(['x-ratelimit-seconds'], [second], epoch)).toMatchObject({ 'x-ratelimit-reset': '1' })
})

test('a reset since 1970 is of the API’s own clock, rounded up', () => {
  expect(rateHeaders(['x-ratelimit'], [second], epoch)).toMatchObject({ 'x-ratelimit-reset': '1700000001' })
})

test('over the limit nothing remains, and the reset is when a call fits again', () => {
  const over = { ...second, used: 30, wait: 3_000 }
  expect(rateHeaders(['ratelimit'], [over], epoch)['ratelimit']).toBe('"limit1";r=0;t=3')
})

test('without a limit, or without a dialect, there is no header', () => {
  expect(rateHeaders(['ratelimit', 'x-ratelimit'], [], epoch)).toEqual({})
  expect(rateHeaders([], [second], epoch)).toEqual({})
})
