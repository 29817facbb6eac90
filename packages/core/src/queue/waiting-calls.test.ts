import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WaitingCalls } from './waiting-calls.ts'

interface Waiter {
  readonly priority: number
}

test('whatever joins and leaves, the next is the first of the highest priority', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ join: fc.integer({ min: -2, max: 2 }) }),
      fc.record({ leave: fc.nat(30) }),
      fc.constant('next' as const),
    ),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(steps, (taken) => {
      const line = new WaitingCalls<Waiter>()
      let model: Waiter[] = []
      for (const step of taken) {
        if (step === 'next') {
          const next = line.next()
          if (next !== model.toSorted((a, b) => b.priority - a.priority)[0]) throw new Error('not the next')
          model = model.filter((waiter) => waiter !== next)
        } else if ('join' in step) {
          const waiter = { priority: step.join }
          line.add(waiter)
          model.push(waiter)
        } else {
          const waiter = model[step.leave]
          if (waiter !== undefined && !line.remove(waiter)) throw new Error('not there')
          model = model.filter((other) => other !== waiter)
        }
        expect(line.size).toBe(model.length)
      }
      expect(line.removeAll()).toEqual(model.toSorted((a, b) => b.priority - a.priority))
      expect(line.size).toBe(0)
    }),
  )
})

test('a call that joins has those of the same priority ahead, and higher ones', () => {
  const line = new WaitingCalls<Waiter>()
  const waiters = [2, 0, 0, -1].map((priority) => ({ priority }))
  for (const waiter of waiters) line.add(waiter)
  expect([3, 2, 1, 0, -1].map((priority) => line.ahead(priority))).toEqual([0, 1, 1, 3, 4])
  line.remove(waiters[1] as Waiter)
  expect([3, 2, 1, 0, -1].map((priority) => line.ahead(priority))).toEqual([0, 1, 1, 2, 3])
})

test('a call that is gone cannot be removed', () => {
  const line = new WaitingCalls<Waiter>()
  const [first, second, third] = [0, 0, 0].map((priority) => ({ priority }))
  if (!first || !second || !third) throw new Error('three')
  for (const waiter of [first, second, third]) line.add(waiter)
  expect(line.next()).toBe(first)
  expect([first, second, second].map((waiter) => line.remove(waiter))).toEqual([false, true, false])
  expect(line.size).toBe(1)
  expect(line.next()).toBe(third)
  expect(line.next()).toBeUndefined()
})
