import { expect, test } from 'vitest'
import { BudgetLevel } from './budget-level.ts'
import type { BudgetResponse } from './protocol.ts'

const span = 1_000

/** Returns a response of Redis with these fields. The other fields do not matter here. */
const said = (response: Partial<BudgetResponse>): BudgetResponse =>
  ({ used: 0.2, left: 20, soonest: 0, asks: false, ...response }) as BudgetResponse

test('what Redis responded is known for a window, and not 1 ms longer', () => {
  const level = new BudgetLevel()
  expect(level.known(0, span)).toBeUndefined()
  level.update(said({ used: 0.5, left: 12 }), 100)
  expect(level.known(1_099, span)).toMatchObject({ used: 0.5, left: 12 })
  expect(level.known(1_100, span)).toBeUndefined()
})

test.each<[string, Partial<BudgetResponse> | undefined, number, number, boolean]>([
  ['half of what Redis knows', {}, 10, 500, false],
  ['less than half of it', {}, 9, 500, true],
  ['nothing, which Redis knows', { left: 0, soonest: 500 }, 0, 1_500, false],
  ['nothing, and for longer than Redis knows', { left: 0, soonest: 500 }, 0, 1_501, true],
  ['all, which Redis asked for', { asks: true }, 24, 500, true],
  ['nothing, where Redis has not responded', undefined, 0, 500, true],
  ['something, where Redis has not responded', undefined, 1, 500, false],
])('that %s remains is worth a request: %s, %d, %d: %s', (_what, response, remaining, resetIn, isNews) => {
  const level = new BudgetLevel()
  if (response !== undefined) level.update(said(response), 0)
  expect(level.note({ remaining, resetIn }, 0, span, 5)).toBe(isNews)
})

test('a report goes with each request until Redis has responded, and then not again', () => {
  const level = new BudgetLevel()
  level.note({ remaining: 7.9, resetIn: 4_000 }, 100, span, 5)
  expect(level.report(150)).toEqual([7, 3_950, 50, 5])
  // no response to that request
  expect(level.report(400)).toEqual([7, 3_700, 300, 5])
  level.update(said({}), 410)
  expect(level.report(500)).toEqual([])
})

test('a report that comes while a request is under way goes with the next one; one whose reset is over does not', () => {
  const level = new BudgetLevel()
  level.note({ remaining: 7, resetIn: 4_000 }, 0, span, 5)
  level.report(10)
  level.note({ remaining: 6, resetIn: 1_000 }, 20, span, 8)
  level.update(said({}), 30)
  expect(level.report(1_019)).toEqual([6, 1, 999, 8])
  expect(level.report(1_020)).toEqual([])
})
