import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Limit } from '../../src/index.ts'
import { callStrictly } from './strict-server.ts'

const day = 86_400
const windows = { hour: 13, day: 10, month: 7 } as const
const lengths = { hour: 3_600, day, month: 31 * day }

/** The name of the window that an API would file a call under: the first letters of its local time. */
function windowName(window: keyof typeof windows, timeZone: string): (wall: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (wall) => format.format(wall).slice(0, windows[window])
}

/** Before a day on which clocks are set, a day that does not exist everywhere, the end of a month and of a year. */
const starts = [
  '2026-03-07T20:00Z',
  '2026-03-28T12:00Z',
  '2026-10-24T12:00Z',
  '2026-10-31T20:00Z',
  '2026-04-04T06:00Z',
  '2026-10-03T06:00Z',
  '2028-02-27T18:00Z',
  '2026-02-27T18:00Z',
  '2026-12-30T18:00Z',
]
const zones = [
  'UTC',
  'America/Los_Angeles',
  'America/St_Johns',
  'America/Santiago',
  'Europe/Berlin',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
]

test('whatever the time zone, the date and the clock of the API: no window of its calendar has a call too many, and each is used', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('hour', 'day', 'month'),
      fc.constantFrom(...zones),
      fc.constantFrom(...starts),
      fc.integer({ min: 0, max: 7_200_000 }),
      fc.integer({ min: 5, max: 40 }),
      fc.integer({ min: -1_200_000, max: 1_200_000 }),
      async (window, timeZone, start, later, quota, ahead) => {
        // hours of a clock that is set back have one name twice
        const zone = window === 'hour' ? 'Asia/Kathmandu' : timeZone
        const limits: Limit[] = [{ quota, window, timeZone: zone }]
        const { over, lost, errors, share } = await callStrictly(
          { limits },
          {
            rules: [{ named: quota, nameOf: windowName(window, zone) }],
            callers: 3,
            seconds: 3.5 * lengths[window],
            startsAt: Date.parse(start) + later,
            ahead,
          },
        )
        expect({ over, lost, errors }).toEqual({ over: 0, lost: 0, errors: [] })
        // the first window or the last one may be a moment long
        expect(share).toBeGreaterThan(0.75)
      },
    ),
    { numRuns: 150 },
  )
})
