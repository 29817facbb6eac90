import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Pulse } from './pulse.ts'

let clock = 0
let pulse: Pulse
beforeEach(() => {
  vi.useFakeTimers()
  clock = 0
  pulse = new Pulse(() => clock)
})
afterEach(() => {
  pulse.stop()
  vi.useRealTimers()
})

/** Lets the timer fire `times` times, each after so many milliseconds. */
function beat(times: number, ms: number): void {
  for (let beats = 0; beats < times; beats += 1) {
    clock += ms
    vi.advanceTimersByTime(10)
  }
}

test('with time for it, bytes that are read now arrived since the last look', () => {
  beat(100, 10)
  clock += 7
  expect(pulse.earliest()).toBe(1_000)
})

test('what stood still, its client may have done too: for a second, bytes may have been on their way as long', () => {
  beat(10, 10)
  beat(1, 300)
  expect(pulse.earliest()).toBe(400 - 300)
  beat(99, 10)
  expect(pulse.earliest()).toBe(1_390 - 300)
  beat(2, 10)
  expect(pulse.earliest()).toBe(1_410)
})
