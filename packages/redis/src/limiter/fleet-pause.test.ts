import { expect, test } from 'vitest'
import { FleetPause } from './fleet-pause.ts'

test('a pause is reported until it is over, and a day at most', () => {
  const pause = new FleetPause()
  pause.begin(0, 1_000)
  expect(pause.report(400)).toEqual({ pause: 600, resume: false })
  expect(pause.report(1_000)).toEqual({ pause: 0, resume: false })
  pause.begin(0, Infinity)
  expect(pause.report(0).pause).toBe(86_400_000)
})

test('a lifted pause is reported until Redis has responded', () => {
  const pause = new FleetPause()
  pause.begin(0, 1_000)
  pause.lift()
  expect(pause.report(1)).toEqual({ pause: 0, resume: true })
  const sent = pause.report(2)
  expect(sent.resume).toBe(true)
  pause.update(3, sent, 0)
  expect(pause.report(4).resume).toBe(false)
})

test('a pause of the fleet that is over before its end was lifted by another process', () => {
  const pause = new FleetPause()
  const sent = pause.report(0)
  expect(pause.update(0, sent, 500)).toBeUndefined()
  expect(pause.update(100, sent, 0)).toBe('lifted')
  expect(pause.update(200, sent, 0)).toBeUndefined()
  // one that ended by itself
  expect(pause.update(1_000, sent, 500)).toBeUndefined()
  expect(pause.update(1_600, sent, 0)).toBeUndefined()
})
