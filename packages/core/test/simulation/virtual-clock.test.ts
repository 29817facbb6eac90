import { afterEach, expect, test } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

const clock = new VirtualClock()
afterEach(() => clock.uninstall())

test('what of performance tells no time is the real one, since the runtime\u2019s fetch may load meanwhile', () => {
  const { markResourceTiming } = performance
  clock.install()
  expect(performance.now()).toBe(0)
  expect(performance.markResourceTiming).toBe(markResourceTiming)
})
