import { beforeEach, expect, test } from 'vitest'

import { FaultSlot } from './fault.ts'
import { createRandom } from './latency.ts'

let at: number
let slot: FaultSlot<string>

beforeEach(() => {
  at = 0
  slot = new FaultSlot(() => at)
})

test('without a fault nothing is met', () => {
  expect(slot.take()).toBeUndefined()
})

test('a fault without bounds lasts until it is cleared', () => {
  slot.set('broken', {})
  at = Number.MAX_SAFE_INTEGER
  expect(slot.take()).toBe('broken')
  expect(slot.take()).toBe('broken')
  slot.clear()
  expect(slot.take()).toBeUndefined()
})

test('a fault for 100 ms is met 99 ms later', () => {
  slot.set('broken', { for: 100 })
  at = 99
  expect(slot.take()).toBe('broken')
})

test('a fault for 100 ms is over 100 ms later', () => {
  slot.set('broken', { for: 100 })
  at = 100
  expect(slot.take()).toBeUndefined()
})

test('a fault for 2 times meets two requests', () => {
  slot.set('broken', { times: 2 })
  expect([slot.take(), slot.take(), slot.take()]).toEqual(['broken', 'broken', undefined])
})

test('of two bounds the one reached first ends the fault', () => {
  slot.set('broken', { for: 100, times: 1 })
  expect([slot.take(), slot.take()]).toEqual(['broken', undefined])
  slot.set('broken', { for: 100, times: 1 })
  at = 100
  expect(slot.take()).toBeUndefined()
})

test('the fault set last replaces the one before', () => {
  slot.set('first', { times: 1 })
  slot.set('second', {})
  expect([slot.take(), slot.take()]).toEqual(['second', 'second'])
})

test('a fault for 30 of a hundred meets 30 of a hundred, and only those count', () => {
  const random = createRandom(1)
  slot = new FaultSlot(() => at, random)
  slot.set('broken', { percent: 30, times: 1_000 })
  let requests = 0
  for (let met = 0; met < 1_000; requests += 1) if (slot.take() !== undefined) met += 1
  expect(requests).toBeGreaterThan(3_100)
  expect(requests).toBeLessThan(3_600)
  expect(slot.take()).toBeUndefined()
  slot.set('broken', { percent: 0 })
  expect(slot.take()).toBeUndefined()
})

test('what is left of a fault can be asked', () => {
  expect(slot.current()).toBeUndefined()
  slot.set('broken', { for: 100, times: 2 })
  at = 40
  slot.take()
  expect(slot.current()).toEqual({ fault: 'broken', timeLeft: 60, timesLeft: 1, percent: 100 })
  at = 100
  expect(slot.current()).toBeUndefined()
})
