import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

const limits = [{ quota: 30, window: 1_000 }]

/** Refuses so many calls that were sent together. */
function refuse(pace: Pace, count: number, now: number): void {
  for (let index = 0; index < count; index += 1) pace.refused(index === 0, limits, [], now)
}

test('a fifth of the quota that is refused at once halves the pace, one less does not', () => {
  const pace = new Pace()
  refuse(pace, 5, 0)
  expect(pace.of(limits)).toEqual(limits)
  refuse(pace, 6, 1_000)
  expect(pace.of(limits)).toEqual([{ quota: 15, window: 1_000 }])
  refuse(pace, 30, 2_000)
  // the first of them takes a step, and the others halve what is left
  expect(pace.of(limits)).toEqual([{ quota: 6, window: 1_000 }])
})

test('an API that names its limit gets that', () => {
  const pace = new Pace()
  pace.refused(true, limits, [{ quota: 10, window: 1_000 }], 0)
  expect(pace.of(limits)).toEqual([{ quota: 10, window: 1_000 }])
})

test('the rest of the burst that an API refuses does not halve the limit that it names', () => {
  const pace = new Pace()
  for (let index = 0; index < 20; index += 1)
    pace.refused(index === 0, limits, [{ quota: 10, window: 1_000 }], 0)
  expect(pace.of(limits)).toEqual([{ quota: 10, window: 1_000 }])
})

test('the pace does not come back above the limit that the API names, until the API names a higher one', () => {
  const pace = new Pace()
  pace.refused(true, limits, [{ quota: 10, window: 1_000 }], 0)
  pace.accepted(limits, [{ quota: 10, window: 1_000 }], 10_000)
  expect(pace.of(limits)).toEqual([{ quota: 10, window: 1_000 }])
  pace.accepted(limits, [{ quota: 30, window: 1_000 }], 20_000)
  expect(pace.of(limits)).toEqual([{ quota: 11, window: 1_000 }])
})

test('the pace comes back by a tenth after ten quiet windows, and a refusal on the way doubles that time', () => {
  const pace = new Pace()
  refuse(pace, 6, 0)
  expect(pace.accepted(limits, [], 9_999)).toBe(false)
  expect(pace.accepted(limits, [], 10_000)).toBe(true)
  expect(pace.part).toBeCloseTo(0.55)
  refuse(pace, 1, 11_000)
  expect(pace.part).toBeCloseTo(0.4675)
  expect(pace.accepted(limits, [], 30_999)).toBe(false)
  expect(pace.accepted(limits, [], 31_000)).toBe(true)
  for (let at = 60_000; pace.part < 1; at += 20_000) expect(pace.accepted(limits, [], at)).toBe(true)
  expect(pace.of(limits)).toEqual(limits)
})

test('a part of less than one call is one call in a longer window', () => {
  const pace = new Pace()
  pace.part = 0.01
  expect(pace.of(limits)).toEqual([{ quota: 1, window: expect.closeTo(3_333.3, 0) }])
})
