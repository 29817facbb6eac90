import { expect, test } from 'vitest'
import { FleetPause } from './fleet-pause.ts'

test('a pause is said until it is over, and a day at most', () => {
  const pause = new FleetPause()
  pause.begin(0, 1_000)
  expect(pause.say(400)).toEqual({ pause: 600, resume: false })
  expect(pause.say(1_000)).toEqual({ pause: 0, resume: false })
  pause.begin(0, Infinity)
  expect(pause.say(0).pause).toBe(86_400_000)
})

test('lifting a pause is said until Redis has heard it', () => {
  const pause = new FleetPause()
  pause.begin(0, 1_000)
  pause.lift()
  expect(pause.say(1)).toEqual({ pause: 0, resume: true })
  const said = pause.say(2)
  expect(said.resume).toBe(true)
  pause.hear(3, said, 0)
  expect(pause.say(4).resume).toBe(false)
})

test('a pause of the fleet that is over before its end was lifted by another process', () => {
  const pause = new FleetPause()
  const said = pause.say(0)
  expect(pause.hear(0, said, 500)).toBeUndefined()
  expect(pause.hear(100, said, 0)).toBe('lifted')
  expect(pause.hear(200, said, 0)).toBeUndefined()
  // one that ended by itself
  expect(pause.hear(1_000, said, 500)).toBeUndefined()
  expect(pause.hear(1_600, said, 0)).toBeUndefined()
})
