import { expect, test } from 'vitest'

import { ExpiringMap } from './expiring-map.ts'

test('entries that have ended are forgotten, and those that have not are kept', () => {
  const map = new ExpiringMap<number>()
  const sizes: number[] = []
  for (let now = 0; now < 100_000; now += 1) {
    map.set(`short ${now}`, now, { expiresAt: now + 100, now })
    if (now % 1_000 === 0) map.set(`long ${now}`, now, { expiresAt: 200_000, now })
    sizes.push(map.size)
  }
  expect(Math.max(...sizes)).toBeLessThan(1_000)
  expect(map.get('long 0')).toBe(0)
  expect(map.get('short 0')).toBeUndefined()
  expect(map.get('short 99999')).toBe(99_999)
})

test('an entry is kept until its end, and forgotten at it', () => {
  const at = (now: number): number | undefined => {
    const map = new ExpiringMap<number>()
    map.set('first', 1, { expiresAt: 50, now: 0 })
    for (let more = 1; more < 1_000; more += 1) map.set(`${more}`, 1, { expiresAt: 100, now })
    return map.get('first')
  }
  expect([at(49), at(50)]).toEqual([1, undefined])
})

test('as many entries as are alive are kept', () => {
  const map = new ExpiringMap<number>()
  for (let more = 0; more < 5_000; more += 1) map.set(`${more}`, more, { expiresAt: 1, now: 0 })
  expect(map.size).toBe(5_000)
})
