import { expect, test, vi } from 'vitest'
import { fakeTime, hour, minute, pass, second, start } from '../../test/fake-time.ts'
import { fakeService } from '../../test/fake-issuer.ts'

fakeTime()

test('the lifetime is counted from the moment before the request', async () => {
  const { tokens, issuer } = fakeService({ requestTimeout: 30_000, maxWait: 30_000 })
  issuer.respondOnceWith(() => issuer.after(20 * second))
  const token = tokens.getToken('general')
  await pass(20 * second)
  expect((await token).expiresAt).toEqual(new Date(start + hour))
})

test('a fresh token is reused up to 1 ms before its renewal is due', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(hour - 5 * minute - 1)
  await tokens.getToken('general')
  expect(issuer.count).toBe(1)
  await pass(1)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(0)
  expect(issuer.count).toBe(2)
  expect((await tokens.getToken('general')).value).toBe('token-2')
})

test('the margin is a tenth of the lifetime at most and half of that at least, drawn for each token', async () => {
  for (const [random, margin] of [
    [0, 3 * minute],
    [0.999_999, 6 * minute],
  ] as const) {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const { tokens, issuer } = fakeService()
    await tokens.warmUp()
    await pass(hour - margin - second)
    await tokens.getToken('general')
    await pass(0)
    expect(issuer.count).toBe(1)
    await pass(2 * second)
    await tokens.getToken('general')
    await pass(0)
    expect(issuer.count).toBe(2)
  }
})

test('200 managers of the same second spread their renewals over the jitter range, none after expiry', async () => {
  const fleet = Array.from({ length: 200 }, () => fakeService())
  await Promise.all(fleet.map(({ tokens }) => tokens.warmUp()))
  const renewedAt: number[] = []
  await pass(53 * minute)
  for (let at = 53 * minute; at <= hour; at += 10 * second) {
    await Promise.all(fleet.map(({ tokens }) => tokens.getToken('general')))
    await pass(0)
    const renewed = fleet.filter(({ issuer }) => issuer.count === 2).length
    while (renewedAt.length < renewed) renewedAt.push(at)
    await pass(10 * second)
  }
  expect(renewedAt).toHaveLength(200)
  expect(renewedAt[0]).toBeGreaterThanOrEqual(54 * minute)
  expect(renewedAt.at(-1)).toBeLessThanOrEqual(57 * minute + 10 * second)
  const inHalfMinuteOf = (from: number): number =>
    renewedAt.filter((at) => at >= from && at < from + 30 * second).length
  expect(Math.max(...renewedAt.map(inHalfMinuteOf))).toBeLessThan(80)
})

test.each([30, 60, 300])(
  'a lifetime of %i s with a margin of 300 s costs one request for 5 calls',
  async (lifetime) => {
    const { tokens, issuer } = fakeService({ renewBefore: 300 * second })
    issuer.lifetime = lifetime
    for (let call = 0; call < 5; call += 1) {
      await tokens.getToken('general')
      await pass(0)
    }
    expect(issuer.count).toBe(1)
  },
)

test('with the floor left, calls wait for the renewal; 1 ms earlier they do not', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  await pass(hour - 10 * second - 1)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(1)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test.each([1, 2, 5, 10, 30, 60, 120, 200, 300, 400, 3_600])(
  'of a lifetime of %i s there is always time to renew ahead of the calls that would wait',
  async (lifetime) => {
    for (const random of [0, 0.5, 0.999_999]) {
      vi.spyOn(Math, 'random').mockReturnValue(random)
      const { tokens, issuer, eventsOf } = fakeService()
      issuer.lifetime = lifetime
      await tokens.warmUp()
      // 200 calls per lifetime, spread evenly
      for (let call = 0; call < 1_000; call += 1) {
        await tokens.getToken('general')
        await pass(lifetime * 5)
      }
      const renewals = eventsOf('token.renewed').slice(1)
      expect(new Set(renewals.map(({ reason, joiners }) => `${reason} ${joiners}`))).toEqual(
        new Set(['ahead 0']),
      )
      // five lifetimes, each cut short by a tenth at most
      expect(renewals.length).toBeGreaterThanOrEqual(4)
      expect(renewals.length).toBeLessThanOrEqual(6)
    }
  },
)

test('the floor is a fortieth of a short lifetime: calls wait from there on, and 1 ms earlier they do not', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  issuer.lifetime = 60
  await tokens.warmUp()
  await pass(58_500 - 1)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(1)
  expect((await tokens.getToken('general')).value).toBe('token-2')
})
