import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Credentials } from './credentials.ts'
import type { TokenlaneEvent } from '../events.ts'
import { secretExpiry, type SecretLifetime } from './secret-expiry.ts'

const day = 86_400_000
const issuedAt = Date.UTC(2026, 0, 1)
const end = issuedAt + 365 * day
const credentials = { clientId: 'client-1', clientSecret: 'secret-1', secretIssuedAt: new Date(issuedAt) }

beforeEach(() => vi.useFakeTimers({ now: issuedAt }))
afterEach(() => vi.useRealTimers())

const watching = (
  watched: Credentials = credentials,
  lifetime: Omit<SecretLifetime, 'issuer'> = { secretLifetime: 365, notices: [10, 5] },
): { clock: ReturnType<typeof secretExpiry>; thresholds: () => [number, number][] } => {
  const events: TokenlaneEvent[] = []
  const clock = secretExpiry({ issuer: 'general', ...lifetime }, (event) => events.push(event))
  clock.watch(watched)
  const thresholds = (): [number, number][] =>
    events.flatMap((event) => (event.type === 'secret.expiring' ? [[event.threshold, event.daysLeft]] : []))
  return { clock, thresholds }
}

test.each<[10 | 5 | 0]>([[10], [5], [0]])(
  'the notice at %i days comes at that very moment, not 1 ms before, and once',
  (threshold) => {
    vi.setSystemTime(end - threshold * day - 1)
    const { clock, thresholds } = watching()
    expect(clock.daysLeft()).toBe(threshold + 1)
    const before = thresholds()
    expect(before.map(([told]) => told)).not.toContain(threshold)
    vi.setSystemTime(end - threshold * day)
    for (let call = 0; call < 3; call += 1) expect(clock.daysLeft()).toBe(threshold)
    expect(thresholds()).toEqual([...before, [threshold, threshold]])
  },
)

test('no days are left from the end on', () => {
  const { clock, thresholds } = watching()
  expect(clock.daysLeft()).toBe(365)
  vi.setSystemTime(end + 100 * day)
  expect(clock.daysLeft()).toBe(0)
  expect(thresholds()).toEqual([[0, 0]])
})

test('going back and forth between two secrets while one is rotated repeats no notice', () => {
  vi.setSystemTime(end - 3 * day)
  const { clock, thresholds } = watching()
  const next = { clientId: 'client-1', clientSecret: 'secret-2', secretIssuedAt: new Date() }
  for (let turn = 0; turn < 3; turn += 1) {
    clock.watch(next)
    expect(clock.daysLeft()).toBe(365)
    clock.watch(credentials)
    expect(clock.daysLeft()).toBe(3)
  }
  expect(thresholds()).toEqual([[5, 3]])
})

test('a secret of another lifetime has its own notices, in any order', () => {
  const { clock, thresholds } = watching(credentials, { secretLifetime: 180, notices: [1, 30] })
  expect(clock.daysLeft()).toBe(180)
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
    clock.daysLeft()
    expect(thresholds()).toEqual(told)
  }
})

test('without the date of issue nothing is known', () => {
  const { clock, thresholds } = watching({ clientId: 'client-1', clientSecret: 'secret-1' })
  vi.setSystemTime(end)
  expect(clock.daysLeft()).toBeUndefined()
  expect(thresholds()).toEqual([])
})
