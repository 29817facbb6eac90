import { expect, test } from 'vitest'

import { BoundedMap } from './bounded-map.ts'

test('a full map drops the entry that was set longest ago, and no other', () => {
  const map = new BoundedMap<number>(3)
  for (const key of ['a', 'b', 'c']) map.set(key, 1)
  map.set('a', 2)
  map.set('d', 1)
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([2, undefined, 1, 1])
  expect(map.values()).toHaveLength(3)
})
