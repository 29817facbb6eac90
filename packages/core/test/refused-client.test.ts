import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Api, ApiOptions, Credentials } from '../src/index.ts'
import { acceptOnly, client, fakeService, refusal } from './fake-issuer.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const api = { baseUrl: 'https://api.example.com/', issuer: 'general' }
const limits = [{ quota: 25, window: 1_000 }]

/** A vault that takes 50 ms for each answer. */
function slowVault(): {
  asked: string[]
  credentials: (context: { reason: string }) => Promise<Credentials>
} {
  const asked: string[] = []
  return {
    asked,
    async credentials({ reason }) {
      asked.push(reason)
      await new Promise((resolve) => setTimeout(resolve, 50))
      return client
    },
  }
}

test.each<[string, ApiOptions]>([
  ['without a rate policy', api],
  ['with a rate policy', { ...api, ratePolicy: { limits } }],
  ['with a rate policy of one slot', { ...api, ratePolicy: { limits, concurrency: 1 } }],
])(
  '200 calls %s share one outcome of a refused client: two looks at the vault, 100 ms',
  async (_what, options) => {
    const { asked, credentials } = slowVault()
    const { tokens, issuer } = fakeService({ credentials }, { apis: [options] })
    issuer.respondWith(() => refusal())
    const calls = Promise.allSettled(
      Array.from({ length: 200 }, () =>
        (tokens.route(api.baseUrl) as Api).send(async () => expect.fail('sent without a token')),
      ),
    )
    const ended = vi.fn()
    void calls.finally(ended)
    await vi.advanceTimersByTimeAsync(100)
    expect(ended).toHaveBeenCalled()
    for (const outcome of await calls)
      expect(outcome).toMatchObject({
        reason: { code: 'TOKEN_REQUEST_REFUSED', oauthError: 'invalid_client' },
      })
    expect(asked).toEqual(['startup', 'rejected'])
    expect(issuer.count).toBe(1)
  },
)

test('calls that come one after the other cost one look at the vault at a time, and no token request', async () => {
  const { asked, credentials } = slowVault()
  const { tokens, issuer } = fakeService({ credentials }, { apis: [api] })
  issuer.respondWith(() => refusal())
  const calls: Promise<unknown>[] = []
  for (let call = 0; call < 200; call += 1) {
    calls.push(tokens.getToken('general').catch((error: unknown) => error))
    await vi.advanceTimersByTimeAsync(5)
  }
  await vi.advanceTimersByTimeAsync(100)
  for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  // 1 s of calls, 50 ms for each look
  expect(asked.length).toBeLessThanOrEqual(22)
  expect(issuer.count).toBe(1)
})

test('in a long outage the vault is asked at most once a second, and a new secret is used within a second', async () => {
  let asked = 0
  let clientSecret = 'secret-1'
  const credentials = (): Credentials => {
    asked += 1
    return { clientId: 'client-1', clientSecret }
  }
  const { tokens, issuer } = fakeService({ credentials }, { apis: [api] })
  acceptOnly(issuer, 'secret-2')
  const call = (): Promise<unknown> => tokens.getToken('general').catch((error: unknown) => error)
  for (let calls = 0; calls < 6_000; calls += 1) {
    await call()
    await vi.advanceTimersByTimeAsync(20)
  }
  expect(asked).toBeLessThan(350)
  clientSecret = 'secret-2'
  const rotatedAt = Date.now()
  while ((await call()) instanceof Error) await vi.advanceTimersByTimeAsync(20)
  expect(Date.now() - rotatedAt).toBeLessThanOrEqual(1_000)
})

test('a client that is refused after it was accepted may have expired or been replaced, and the error asks so', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ credentials: client })
  await tokens.warmUp()
  tokens.invalidate('general')
  issuer.respondWith(() => refusal())
  const asks = /; the issuer accepted it before: has it expired, or been replaced\?/
  await expect(tokens.getToken('general')).rejects.toThrow(asks)
  expect(eventsOf('renewal.failed').at(-1)?.reason).toMatch(asks)
})

test('a client that never was accepted, and a wrong scope, have no such question', async () => {
  const { tokens, issuer } = fakeService({ credentials: client })
  issuer.respondWith(() => refusal())
  await expect(tokens.getToken('general')).rejects.not.toThrow('accepted it before')
  const other = fakeService({ credentials: client })
  await other.tokens.warmUp()
  other.tokens.invalidate('general')
  other.issuer.respondWith(() => refusal('invalid_scope'))
  await expect(other.tokens.getToken('general')).rejects.not.toThrow('accepted it before')
})

test.each<[string, number, number | undefined]>([
  ['its 365 days', 365, undefined],
  ['the days of its issuer', 90, 90],
])(
  'a refused secret that has expired by %s is said to have, with the date',
  async (_, days, secretLifetime) => {
    vi.setSystemTime(Date.UTC(2026, 10, 28, 12))
    const secretIssuedAt = new Date(Date.now() - days * 86_400_000 - 1)
    const { tokens, issuer } = fakeService({ credentials: { ...client, secretIssuedAt }, secretLifetime })
    issuer.respondWith(() => refusal())
    await expect(tokens.getToken('general')).rejects.toThrow(
      /refused: invalid_client .*; by `secretIssuedAt`, it expired on 2026-11-28/,
    )
  },
)
