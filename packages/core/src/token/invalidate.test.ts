import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fleet } from '../../test/fleet.ts'
import { MemoryStore } from '../../test/memory-store.ts'
import { client, fakeService } from '../../test/fake-issuer.ts'
import { createTokenManager } from '../index.ts'
import { fakeTokens } from '../testing/fake-tokens.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('after `invalidate`, calls get a new token, and the old one never comes back', async () => {
  const { tokens, issuer } = fakeService()
  const { value: old } = await tokens.getToken('general')
  tokens.invalidate('general')
  expect(tokens.status().issuers['general']).toMatchObject({ token: 'none' })
  const values = await Promise.all([1, 2, 3].map(async () => (await tokens.getToken('general')).value))
  expect(new Set(values)).toEqual(new Set(['token-2']))
  expect(values).not.toContain(old)
  expect(issuer.count).toBe(2)
})

test('a call that was sent with the dropped token is sent again with the new one, without a renewal of its own', async () => {
  const { tokens, issuer } = fakeService()
  const api = tokens.route('https://api.example.com/')
  const sent: string[] = []
  const status = await api?.send(async (authorization) => {
    sent.push(authorization)
    if (sent.length === 1) {
      tokens.invalidate('general')
      await tokens.getToken('general')
    }
    return { status: sent.length === 1 ? 401 : 200, header: () => undefined, result: 200, discard() {} }
  })
  expect(status).toBe(200)
  expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
  expect(issuer.count).toBe(2)
})

test('a shared store drops it, too, for processes that come later', async () => {
  const { issuer, processes, join } = fleet(1, {}, new MemoryStore())
  const [first] = processes
  await first?.tokens.getToken('general')
  first?.tokens.invalidate('general')
  expect((await join().tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('a process that has no token yet does not take the stored one', async () => {
  const { issuer, join } = fleet(1, {}, new MemoryStore())
  await join().tokens.getToken('general')
  const { tokens } = join()
  tokens.invalidate('general')
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('an unknown name is refused, with those that are known', () => {
  const { tokens } = fakeService()
  expect(() => tokens.invalidate('genral')).toThrow(
    'Cannot invalidate token: `issuer` is not an issuer of this manager',
  )
})

test('fake tokens have another token after it', async () => {
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  expect((await tokens.getToken('test')).value).toBe('test-token')
  tokens.invalidate('test')
  expect((await tokens.getToken('test')).value).toBe('test-token-2')
})

test.each(['Bearer', 'OAuth', 'Zoho-oauthtoken'])('a call carries the scheme %s', async (scheme) => {
  const tokens = fakeTokens({ apis: [{ baseUrl: 'https://api.example.com/', issuer: 'a', scheme }] })
  const pass = await tokens.route('https://api.example.com/')?.admit()
  expect(pass?.authorization).toBe(`${scheme} a-token`)
  pass?.release()
})

test.each(['', 'Bearer ', 'a b', 'Bearer\r\nx: y', 7])('a scheme of %j is refused at the start', (scheme) => {
  const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general', scheme }]
  const general = { tokenEndpoint: 'https://auth.example.com/token', credentials: client }
  expect(() => createTokenManager({ issuers: { general }, apis } as never)).toThrow('`apis[0].scheme`')
})

test.each([
  ['startup', 'token-2'],
  ['ahead', 'token-3'],
])(
  'a token that was asked for before `invalidate` (%s) and arrives after it is not used either',
  async (reason, last) => {
    const { tokens, issuer } = fakeService({ renewBefore: 3_000_000 })
    const asked = Promise.withResolvers<Response>()
    if (reason === 'ahead') {
      issuer.respondOnceWith(() => issuer.token())
      await tokens.getToken('general')
      vi.setSystemTime(Date.now() + 3_000_000)
    }
    issuer.respondOnceWith(() => asked.promise)
    const early = tokens.getToken('general')
    await vi.advanceTimersByTimeAsync(0)
    tokens.invalidate('general')
    asked.resolve(issuer.token())
    await early
    expect((await tokens.getToken('general')).value).toBe(last)
  },
)
