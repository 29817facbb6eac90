import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInstant } from './read-instant.ts'

const instant = Date.UTC(2026, 10, 21, 12, 0, 30)

test.each([
  ['Sat, 21 Nov 2026 12:00:30 GMT', 'an HTTP date'],
  ['Saturday, 21-Nov-26 12:00:30 GMT', 'RFC 850'],
  ['Sat Nov 21 12:00:30 2026', 'asctime'],
  ['sat, 21 nov 2026 12:00:30 gmt', 'an HTTP date in lower case'],
  ['Sat, 21 Nov 2026 12:00:30', 'without a zone'],
  ['21 Nov 2026 12:00:30 UTC', 'without a day of the week'],
  ['Sat, 21 Nov 2026 13:00:30 +0100', 'with an offset, as Python prints it'],
  ['Sat, 21 Nov 2026 12:00:30 -0000', 'with an offset that says nothing'],
  ['Sat, 21 Nov 2026 07:00:30 EST', 'with a zone of RFC 822'],
  ['Sat, 21-Nov-2026 12:00:30 GMT', 'as cookies had it'],
  ['Sat Nov 21 13:00:30 CET 2026', 'as Java prints it'],
  ['Sat Nov 21 12:00:30 UTC 2026', 'as `date` prints it'],
  ['Sat Nov 21 2026 13:00:30 GMT+0100 (Central European Standard Time)', 'as JavaScript prints it'],
  ['2026-11-21T12:00:30Z', 'ISO 8601'],
  ['2026-11-21T12:00:30.0000000Z', '.NET'],
  ['2026-11-21t12:00:30z', 'in lower case'],
  ['2026-11-21T12:00:30', 'without a zone'],
  ['2026-11-21T14:00:30+02:00', 'with an offset'],
  ['2026-11-21T06:30:30-0530', 'with an offset without a colon'],
  ['2026-11-21 12:00:30+00:00', 'with a space'],
  ['2026-11-21 12:00:30 +0000 UTC', 'Go'],
  ['2026-11-21 12:00:30 UTC', 'Ruby'],
  ['2026/11/21 12:00:30', 'with slashes'],
  ['20261121T120030Z', 'the basic form'],
])('%j is an instant: %s', (text) => {
  expect(readInstant(text)).toBe(instant)
})

test('an instant may leave out its seconds, or have fractions of them', () => {
  expect(readInstant('2026-11-21T12:00Z')).toBe(instant - 30_000)
  expect(readInstant('2026-11-21T12:00:30.250999999Z')).toBe(instant + 250)
  expect(readInstant('2016-12-31T23:59:60Z')).toBe(Date.UTC(2017, 0, 1))
})

test.each([
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-11-31T00:00:00Z',
  '2026-11-21T25:00:00Z',
  '2026-11-21T12:60:00Z',
  'Sat, 99 Foo 2026 12:00:30 GMT',
  'Mon, 30 Feb 2026 12:00:30 GMT',
  'Sat, 21 Nov 2026 12:00:30 XYZ',
  '2026-11-21',
  '21/11/2026 12:00:30',
  '12:00:30',
  'tomorrow',
  'soon',
  '',
  null,
  undefined,
])('%j is no instant', (text) => {
  expect(readInstant(text)).toBeUndefined()
})

test('every date that this runtime prints is read as the same instant', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), (date) => {
      const second = Math.floor(date.getTime() / 1_000) * 1_000
      expect(readInstant(date.toISOString())).toBe(date.getTime())
      expect(readInstant(date.toUTCString())).toBe(second)
      expect(readInstant(date.toString())).toBe(second)
    }),
    { numRuns: 2_000 },
  )
})
