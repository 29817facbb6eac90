import type { Exchange } from '../adapter.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeIssuer, fakeService, unavailable } from '../../test/fake-issuer.ts'
import { apiOf } from '../../test/one-api.ts'
import { createTenants } from '../tenants.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const never = async (): Promise<never> => new Promise(() => {})

test.each([
  ['at its timeout', () => ({ timeout: 5_000 })],
  ['when its signal aborts', () => ({ signal: AbortSignal.timeout(5_000) })],
  ['at the first of both', () => ({ timeout: 60_000, signal: AbortSignal.timeout(5_000) })],
])('close() ends %s, and says how many calls it cut off', async (_, options) => {
  const abort = new AbortController()
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    setTimeout(() => abort.abort(), ms)
    return abort.signal
  })
  const { tokens } = fakeService({}, {})
  await tokens.warmUp()
  for (let call = 0; call < 2; call += 1) void apiOf(tokens).send(never)
  let cutOff: unknown
  void tokens.close(options()).then((result) => (cutOff = result))
  await vi.advanceTimersByTimeAsync(4_999)
  expect(cutOff).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(cutOff).toEqual({ calls: 2, tokenRequests: 0 })
})

test('close() that is not cut off ends with its calls, and leaves no timer and no listener', async () => {
  const { tokens } = fakeService()
  await tokens.warmUp()
  const call = apiOf(tokens).send(
    () =>
      new Promise<Exchange<string>>((resolve) =>
        setTimeout(() => resolve({ status: 200, result: 'ok', discard() {} }), 100),
      ),
  )
  const { signal } = new AbortController()
  const remove = vi.spyOn(signal, 'removeEventListener')
  const closing = tokens.close({ timeout: 60_000, signal })
  await vi.advanceTimersByTimeAsync(100)
  expect([await call, await closing]).toEqual(['ok', { calls: 0, tokenRequests: 0 }])
  expect(vi.getTimerCount()).toBe(0)
  expect(remove).toHaveBeenCalledOnce()
})

test('close() that is cut off makes no further token request, and a second one goes on waiting', async () => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  issuer.respondWith(() => unavailable())
  // a call that was sent waits for its next token
  const call = apiOf(tokens).send(async () => ({ status: 401, result: 401, discard() {} }))
  const failed = expect(call).rejects.toThrow('503')
  await vi.advanceTimersByTimeAsync(10)
  expect(await Promise.all([tokens.close({ timeout: 0 }), vi.advanceTimersByTimeAsync(1)])).toMatchObject([
    { calls: 1, tokenRequests: 1 },
    {},
  ])
  const { count } = issuer
  const again = tokens.close()
  await vi.advanceTimersByTimeAsync(60_000)
  await Promise.all([failed, again])
  expect(issuer.count).toBe(count)
})

test('an aborted signal ends close() at once', async () => {
  const { tokens } = fakeService()
  await tokens.warmUp()
  void apiOf(tokens).send(never)
  expect(await tokens.close({ signal: AbortSignal.abort() })).toEqual({ calls: 1, tokenRequests: 0 })
})

test('tenants are closed within the bound too, and say what was cut off of all', async () => {
  const issuer = new FakeIssuer()
  const tenants = createTenants({
    options: (id) => ({
      issuers: {
        a: { tokenEndpoint: 'https://a.example/t', credentials: { clientId: id, clientSecret: 'secret-1' } },
      },
      apis: [{ baseUrl: 'https://api.example.com/', issuer: 'a' }],
      fetch: issuer.fetch,
    }),
  })
  for (const id of ['a', 'b', 'c']) {
    await tenants.get(id).warmUp()
    void apiOf(tenants.get(id)).send(never)
  }
  expect(
    await Promise.all([tenants.get('c').close({ timeout: 5 }), vi.advanceTimersByTimeAsync(5)]),
  ).toMatchObject([{ calls: 1 }, {}])
  expect(await Promise.all([tenants.close({ timeout: 5 }), vi.advanceTimersByTimeAsync(5)])).toMatchObject([
    { calls: 2 },
    {},
  ])
})

test.each([
  [{ timeout: -1 }, '`timeout` is -1'],
  [{ timeout: '5s' }, '`timeout` is a string'],
  [{ signal: {} }, '`signal` is an object; allowed: an AbortSignal'],
])('close(%j) is refused', async (options, reason) => {
  await expect(fakeService().tokens.close(options as never)).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
    message: expect.stringContaining(reason) as string,
  })
})

test('what a hook of a framework passes is ignored', async () => {
  for (const given of ['SIGTERM', 15, null, { server: {}, close() {} }])
    await expect(fakeService().tokens.close(given as never)).resolves.toEqual({ calls: 0, tokenRequests: 0 })
})
