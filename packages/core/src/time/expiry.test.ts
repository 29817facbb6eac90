import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService } from '../../test/fake-issuer.ts'
import { later, moment, timeUntil } from './expiry.ts'

const start = Date.UTC(2026, 10, 21)
const second = 1_000
const minute = 60 * second
const hour = 60 * minute

beforeEach(() => vi.useFakeTimers({ now: start }))
afterEach(() => vi.useRealTimers())

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

/** Sets the wall clock, and only that. */
const setWall = (by: number): unknown => vi.setSystemTime(Date.now() + by)

test('what is left is what the clock says that leaves less', () => {
  const expiry = later(moment(), hour)
  expect(timeUntil(expiry)).toBe(hour)
  setWall(10 * minute)
  expect(timeUntil(expiry)).toBe(50 * minute)
  setWall(-3 * hour)
  expect(timeUntil(expiry)).toBe(hour)
  vi.advanceTimersByTime(20 * minute)
  expect(timeUntil(expiry)).toBe(40 * minute)
  expect(expiry.wall).toBe(start + hour)
})

test('a wall clock set back by hours: the token serves to its real end, not beyond, and no storm follows', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  setWall(-5 * hour)
  for (let at = 0; at < 59; at += 1) {
    expect((await tokens.getToken('general')).value).toBe('token-1')
    await pass(minute)
  }
  expect(issuer.count).toBe(1)
  await pass(minute)
  for (let call = 0; call < 50; call += 1) expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('a wall clock set forward by hours costs one renewal, and setting it back costs none', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  setWall(5 * hour)
  for (let call = 0; call < 50; call += 1) expect((await tokens.getToken('general')).value).toBe('token-2')
  setWall(-5 * hour)
  for (let call = 0; call < 50; call += 1) expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
  await pass(hour)
  expect((await tokens.getToken('general')).value).toBe('token-3')
})

test('a wall clock set forward to just before the end renews in the background', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  setWall(56 * minute)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(0)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('a machine that sleeps while the token is on its way requests another, and no call gets an expired one', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondOnceWith(() => issuer.after(second))
  const calls = Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general')))
  await pass(500)
  setWall(8 * hour)
  await pass(500 + 250)
  expect(new Set((await calls).map(({ value }) => value))).toEqual(new Set(['token-2']))
  expect(issuer.count).toBe(2)
  expect(eventsOf('token.renewed')).toMatchObject([{ joiners: 50 }])
})

test('a wall clock set back while the token is on its way changes nothing', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  issuer.respondOnceWith(() => issuer.after(second))
  const token = tokens.getToken('general')
  await pass(500)
  setWall(-8 * hour)
  await pass(500)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
  await pass(hour - 12 * second)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(11 * second)
  expect((await tokens.getToken('general')).value).toBe('token-2')
})

test('spacing after a failure goes by the monotonic clock: a wall clock set back delays no renewal', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(() => new Response('', { status: 503 }))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
  setWall(-5 * hour)
  await pass(second)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})
