import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Level, PriorityLevels } from './priority-levels.ts'

test('whatever joins and leaves, the counts from each priority up are those of a sorted list', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.constantFrom<1 | -1>(1, 1, -1)))
  fc.assert(
    fc.property(steps, (taken) => {
      const levels = new PriorityLevels()
      const model = new Map<number, number>()
      for (const [priority, change] of taken) {
        const before = model.get(priority) ?? 0
        if (before + change < 0) continue
        model.set(priority, before + change)
        levels.of(priority)
        levels.count(priority, change)
      }
      for (let priority = -21; priority <= 21; priority += 1) {
        let expected = 0
        for (const [other, calls] of model) if (other >= priority) expected += calls
        expect(levels.countFrom(priority)).toBe(expected)
      }
      expect(levels.total).toBe(levels.countFrom(-21))
      const order: number[] = []
      for (let level: Level | undefined = levels.highest; level; level = levels.highest) {
        order.push(level.priority)
        for (; level.calls > 0;) levels.count(level.priority, -1)
        levels.dropHighest()
      }
      expect(order).toEqual([...model.keys()].toSorted((a, b) => b - a))
      expect(levels.total).toBe(0)
    }),
  )
})
