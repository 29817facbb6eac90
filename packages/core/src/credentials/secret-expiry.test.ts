import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TokenlaneEvent } from '../events.ts'
import { secretExpiry, type SecretLifetime } from './secret-expiry.ts'

const day = 86_400_000
const issuedAt = Date.UTC(2026, 0, 1)
const end = issuedAt + 365 * day

beforeEach(() => vi.useFakeTimers({ now: issuedAt }))
afterEach(() => vi.useRealTimers())

const watching = (
  lifetime: Omit<SecretLifetime, 'issuer'> = { secretLifetime: 365, notices: [10, 5] },
): { daysLeft: (issued?: number) => number; thresholds: () => [number, number][] } => {
  const events: TokenlaneEvent[] = []
  const expiry = secretExpiry({ issuer: 'general', ...lifetime }, (event) => events.push(event))
  const thresholds = (): [number, number][] =>
    events.flatMap((event) => (event.type === 'secret.expiring' ? [[event.threshold, event.daysLeft]] : []))
  return { daysLeft: (issued = issuedAt) => expiry.daysLeft('client-1', new Date(issued)), thresholds }
}

test.each<[10 | 5 | 0]>([[10], [5], [0]])(
  'the notice at %i days comes at that very moment, not 1 ms before, and once',
  (threshold) => {
    vi.setSystemTime(end - threshold * day - 1)
    const { daysLeft, thresholds } = watching()
    expect(daysLeft()).toBe(threshold + 1)
    const before = thresholds()
    expect(before.map(([told]) => told)).not.toContain(threshold)
    vi.setSystemTime(end - threshold * day)
    for (let call = 0; call < 3; call += 1) expect(daysLeft()).toBe(threshold)
    expect(thresholds()).toEqual([...before, [threshold, threshold]])
  },
)

test('no days are left from the end on', () => {
  const { daysLeft, thresholds } = watching()
  expect(daysLeft()).toBe(365)
  vi.setSystemTime(end + 100 * day)
  expect(daysLeft()).toBe(0)
  expect(thresholds()).toEqual([[0, 0]])
})

test('going back and forth between two secrets while one is rotated repeats no notice', () => {
  vi.setSystemTime(end - 3 * day)
  const { daysLeft, thresholds } = watching()
  for (let turn = 0; turn < 3; turn += 1) {
    expect(daysLeft(Date.now())).toBe(365)
    expect(daysLeft()).toBe(3)
  }
  expect(thresholds()).toEqual([[5, 3]])
})

test('a secret of another lifetime has its own notices, in any order', () => {
  const { daysLeft, thresholds } = watching({ secretLifetime: 180, notices: [1, 30] })
  expect(daysLeft()).toBe(180)
  for (const [left, told] of [
    [30.5, []],
    [30, [[30, 30]]],
    [2, [[30, 30]]],
    [
      1,
      [
        [30, 30],
        [1, 1],
      ],
    ],
  ] as const) {
    vi.setSystemTime(issuedAt + (180 - left) * day)
    daysLeft()
    expect(thresholds()).toEqual(told)
  }
})
