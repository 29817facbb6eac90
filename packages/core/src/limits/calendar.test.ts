import { expect, test, vi } from 'vitest'
import { ApiClock } from './api-clock.ts'
import { windowAt } from './calendar.ts'

test.each([
  ['second', 'UTC', '2026-11-21T10:20:30.400Z', '2026-11-21T10:20:30.000Z', '2026-11-21T10:20:31.000Z'],
  ['minute', 'UTC', '2026-11-21T10:20:59.999Z', '2026-11-21T10:20:00.000Z', '2026-11-21T10:21:00.000Z'],
  ['hour', 'UTC', '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z'],
  [
    'hour',
    'Asia/Kolkata',
    '2026-11-21T10:40:00.000Z',
    '2026-11-21T10:30:00.000Z',
    '2026-11-21T11:30:00.000Z',
  ],
  ['day', 'UTC', '2026-11-21T23:59:59.999Z', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  [
    'day',
    'America/Los_Angeles',
    '2026-11-21T07:59:59.999Z',
    '2026-11-20T08:00:00.000Z',
    '2026-11-21T08:00:00.000Z',
  ],
  // the clock is set back: a day of 25 hours; and forward: one of 23
  [
    'day',
    'America/Los_Angeles',
    '2026-11-01T12:00:00.000Z',
    '2026-11-01T07:00:00.000Z',
    '2026-11-02T08:00:00.000Z',
  ],
  [
    'day',
    'Europe/Berlin',
    '2026-03-29T12:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ],
  ['month', 'UTC', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  [
    'month',
    'America/Chicago',
    '2026-12-01T05:59:59.000Z',
    '2026-11-01T05:00:00.000Z',
    '2026-12-01T06:00:00.000Z',
  ],
] as const)('the %s in %s that holds %s', (window, timeZone, instant, start, end) => {
  expect(windowAt(Date.parse(instant), window, timeZone)).toEqual({
    start: Date.parse(start),
    end: Date.parse(end),
  })
})

test('every instant of a year lies in its day, and the days follow each other without a gap', () => {
  for (const zone of ['America/Los_Angeles', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago']) {
    let at = Date.UTC(2026, 0, 1)
    for (let days = 0; days < 365; days += 1) {
      const { start, end } = windowAt(at, 'day', zone)
      expect(start).toBeLessThanOrEqual(at)
      expect(end).toBeGreaterThan(at)
      expect(windowAt(end, 'day', zone).start).toBe(end)
      expect(windowAt(end - 1, 'day', zone).start).toBe(start)
      at = end
    }
  }
})

test('the clock of an API lies within what all of its dates allow, and another one is believed', () => {
  const clock = new ApiClock()
  // 5,000 s ahead, and a half
  const dateAt = (now: number): number => Math.floor((now + 5_000_500) / 1_000) * 1_000
  for (let now = 0; now < 10_000; now += 370) clock.heard(dateAt(now), now, now + 40)
  const { least, most } = clock.bounds(10_000)
  expect(least).toBeLessThanOrEqual(5_000_500)
  expect(most).toBeGreaterThanOrEqual(5_000_500)
  expect(most - least).toBeLessThan(150)
  clock.heard(20_000, 20_000, 20_040)
  expect(clock.bounds(20_040).most).toBeLessThanOrEqual(1_001)
})

test('what is assumed of a clock is not known of it', () => {
  // our clock is 1,097 ms ahead: more than is assumed
  vi.spyOn(Date, 'now').mockReturnValue(1_000_080 + 72)
  const offset = 1_000_080 - 1_097
  const clock = new ApiClock()
  clock.heard(offset + 17, 12, 72)
  const { least, most } = clock.bounds(72)
  expect(least).toBeLessThanOrEqual(offset)
  expect(most).toBeGreaterThanOrEqual(offset)
})
