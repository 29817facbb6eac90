import { expect, test } from 'vitest'

import { StrictRate, type RateLimit } from './strict-rate.ts'

/** Lets calls arrive at these moments and returns the wait of each; `undefined` for an allowed call. */
function arrivals(limits: RateLimit[], moments: number[]): (number | undefined)[] {
  let at = 0
  const rate = new StrictRate(limits, () => at)
  return moments.map((moment) => {
    at = moment
    return rate.arrive()
  })
}

test('the quota may arrive at once, and one call more is over it', () => {
  expect(arrivals([{ quota: 3, window: 1_000 }], [0, 0, 0, 0])).toEqual([
    undefined,
    undefined,
    undefined,
    1_000,
  ])
})

test('a call 1 ms before the window has passed is over the quota', () => {
  expect(arrivals([{ quota: 1, window: 1_000 }], [0, 999])).toEqual([undefined, 1_000])
})

test('a call exactly one window later is allowed', () => {
  expect(arrivals([{ quota: 1, window: 1_000 }], [0, 1_000])).toEqual([undefined, undefined])
})

test('a call counts when it arrived, though this process had no time for it until later', () => {
  let at = 0
  const rate = new StrictRate([{ quota: 2, window: 1_000 }], () => at)
  rate.arrive()
  at = 900
  rate.arrive(300)
  rate.arrive(200)
  at = 1_250
  expect(rate.usage()).toEqual([{ quota: 2, window: 1_000, used: 1, wait: 0, reset: 50 }])
  expect(rate.arrive()).toBeUndefined()
  expect(rate.maxima()).toEqual([3])
})

test('the window slides: a burst across the border of a second is seen', () => {
  const moments = [900, 950, 1_050, 1_100]
  expect(arrivals([{ quota: 3, window: 1_000 }], moments)).toEqual([undefined, undefined, undefined, 850])
})

test('a call that was refused counts too', () => {
  expect(arrivals([{ quota: 2, window: 1_000 }], [0, 500, 800, 1_400])).toEqual([
    undefined,
    undefined,
    700,
    400,
  ])
})

test('a call at the promised moment is allowed', () => {
  expect(arrivals([{ quota: 2, window: 1_000 }], [0, 500, 800, 1_500])).toEqual([
    undefined,
    undefined,
    700,
    undefined,
  ])
})

test('all limits hold at once, and the longest wait comes back', () => {
  const limits = [
    { quota: 1, window: 100 },
    { quota: 2, window: 1_000 },
  ]
  expect(arrivals(limits, [0, 100, 150, 600])).toEqual([undefined, undefined, 950, 550])
})

test('without limits every call is allowed', () => {
  expect(arrivals([], [0, 0, 0])).toEqual([undefined, undefined, undefined])
})

test('the maxima are per limit, and forgetting them keeps the calls in the windows', () => {
  const rate = new StrictRate(
    [
      { quota: 10, window: 100 },
      { quota: 2, window: 1_000 },
    ],
    () => 0,
  )
  rate.arrive()
  rate.arrive()
  expect(rate.maxima()).toEqual([2, 2])
  rate.forgetMaxima()
  expect(rate.maxima()).toEqual([0, 0])
  expect(rate.arrive()).toBe(1_000)
  expect(rate.maxima()).toEqual([3, 3])
})

test('100,000 calls at the quota are all allowed', () => {
  const moments = Array.from({ length: 100_000 }, (_, call) => call * 40)
  expect(arrivals([{ quota: 25, window: 1_000 }], moments).every((wait) => wait === undefined)).toBe(true)
})
