import { expect, test } from 'vitest'

import { recordAt, recordIndex } from './business-record.ts'

test('the same index has the same record', () => {
  expect(recordAt(41)).toEqual(recordAt(41))
  expect(recordAt(41)).not.toEqual(recordAt(42))
})

test('an id leads back to its index', () => {
  for (const index of [0, 1, 999, 9_999_998]) expect(recordIndex(recordAt(index).id)).toBe(index)
})

test.each(['', 'INV-0', 'INV-0000000', 'INV-00000001', 'inv-0000001', '1'])('%o is not an id', (id) => {
  expect(recordIndex(id)).toBeUndefined()
})

test('a record is a few hundred bytes of JSON', () => {
  const { length } = JSON.stringify(recordAt(7))
  expect(length).toBeGreaterThan(200)
  expect(length).toBeLessThan(600)
})
