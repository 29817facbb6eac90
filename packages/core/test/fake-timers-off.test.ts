import { afterEach, expect, test, vi } from 'vitest'

import { createTokenManager, type TokenManager } from '../src/index.ts'

// What a test suite does to a manager: fake timers go on and off around its calls.

afterEach(() => void vi.useRealTimers())

const baseUrl = 'https://api.example.com/'

/** A manager whose issuer is busy this many times before it gives a token. */
function manager({ quota, busy = 0 }: { quota: number; busy?: number }): TokenManager {
  let left = busy
  const credentials = { clientId: 'me', clientSecret: 'a-secret-of-mine' }
  return createTokenManager({
    issuers: { a: { tokenEndpoint: 'https://issuer.example/token', credentials } },
    apis: [{ baseUrl, issuer: 'a', ratePolicy: { limits: [{ quota, window: 60_000 }] } }],
    async fetch() {
      left -= 1
      if (left >= 0) return new Response('busy', { status: 503 })
      return Response.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
    },
  })
}

const send = async (tokens: TokenManager): Promise<unknown> =>
  tokens.route(baseUrl)?.send(async () => ({ status: 200, result: 'sent', discard() {} }))

test('waits that are let end before fake timers are switched off leave nothing that waits', async () => {
  vi.useFakeTimers()
  const [waitsForToken, waitsForUnit] = [manager({ quota: 100, busy: 2 }), manager({ quota: 1 })]
  const calls = [send(waitsForToken), send(waitsForUnit), send(waitsForUnit)]
  await vi.advanceTimersByTimeAsync(120_000)
  vi.useRealTimers()
  expect(await Promise.all(calls)).toEqual(['sent', 'sent', 'sent'])
  expect([waitsForToken, waitsForUnit].map((tokens) => tokens.status().apis[0]?.queued)).toEqual([0, 0])
})

test.each(['before', 'under', 'after'] as const)(
  'a manager that was first used %s fake timers sends on when they go on and off',
  async (when) => {
    const tokens = manager({ quota: 100 })
    const sent: unknown[] = []
    if (when === 'before') sent.push(await send(tokens))
    vi.useFakeTimers()
    if (when !== 'after') sent.push(await send(tokens))
    vi.advanceTimersByTime(120_000)
    vi.useRealTimers()
    sent.push(await send(tokens))
    vi.useFakeTimers()
    sent.push(await send(tokens))
    expect(new Set(sent)).toEqual(new Set(['sent']))
  },
)
