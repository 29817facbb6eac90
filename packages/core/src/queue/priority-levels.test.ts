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

function depthOf(root: Level): number {
  let depth = 0
  for (let row = [root]; row.length > 0; depth += 1)
    row = row.flatMap(({ higher, lower }) => [higher, lower]).filter((level) => level !== undefined)
  return depth
}

test.each([
  ['ascending', (index: number) => index],
  ['descending', (index: number) => -index],
  ['mixed', (index: number) => (index * 7_919) % 50_000],
])('with 50,000 distinct priorities, %s, no call passes more than 100 of them', (_order, priorityOf) => {
  const levels = new PriorityLevels()
  const added = Array.from({ length: 50_000 }, (_, index) => {
    const level = levels.of(priorityOf(index))
    levels.count(level.priority, 1)
    return level
  })
  const root = added.find(({ total }) => total === levels.total) as Level
  expect(levels.total).toBe(50_000)
  // 40 to 50 by chance, 50,000 in a list
  expect(depthOf(root)).toBeLessThan(100)
})
