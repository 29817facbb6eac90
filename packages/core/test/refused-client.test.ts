import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Api, ApiOptions, Credentials } from '../src/index.ts'
import { client, fakeService, refusal } from './fake-issuer.ts'

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
