import { expect, onTestFinished, test } from 'vitest'

import { ownOptions } from './own-options.ts'

test('what other code has put on every object is none of a call, and a getter of the call stays one', () => {
  const prototype = Object.prototype as { cost?: unknown }
  onTestFinished(() => void delete prototype.cost)
  let hasEnded = false
  const options = {
    method: 'POST',
    get replayable() {
      return hasEnded
    },
  }
  expect(ownOptions(options)).toBe(options)
  prototype.cost = 1_000
  const own = ownOptions(options)
  hasEnded = true
  expect([own.cost, own.method, own.replayable]).toEqual([undefined, 'POST', true])
})
