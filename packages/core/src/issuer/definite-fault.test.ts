import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { client, fakeService } from '../../test/fake-issuer.ts'
import { createTokenManager, generalIssuer, weblinkIssuer } from '../index.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const certificate = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

test.each<[string, () => Response | Error]>([
  ['an unknown authority', () => certificate('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
  ['an expired certificate', () => certificate('CERT_HAS_EXPIRED')],
])('%s fails at once and not after maxWait, and is asked for again spaced', async (_what, answer) => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondWith(answer)
  const error: unknown = await tokens.getToken('general').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', definite: true })
  expect(issuer.count).toBe(1)
  const retryIn = eventsOf('renewal.failed')[0]?.retryIn ?? 0
  expect(retryIn).toBeGreaterThanOrEqual(250)
  await vi.advanceTimersByTimeAsync(Math.floor(retryIn) - 1)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ message: (error as Error).message })
  expect(issuer.count).toBe(1)
  await vi.advanceTimersByTimeAsync(2)
  issuer.respondWith(undefined)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test.each([404, 405])('status %i again is definite, and later calls fail at once', async (status) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.9)
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => new Response('', { status }))
  const failed = tokens.getToken('general').catch((thrown: unknown) => thrown)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await failed).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', definite: true })
  expect(issuer.count).toBe(2)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status })
  expect(issuer.count).toBe(2)
})

test('a port that fetch blocks is named at once', async () => {
  const tokens = createTokenManager({
    issuers: { general: { tokenEndpoint: 'https://auth.example.com:6000/token', credentials: client } },
    apis: [],
  })
  await expect(tokens.getToken('general')).rejects.toMatchObject({
    definite: true,
    message: expect.stringContaining('could not be reached: `fetch` blocks port 6000') as string,
  })
})

test('auth URLs that were swapped are asked about, each with the path of the other issuer', async () => {
  const fetch = async (): Promise<Response> => new Response('', { status: 404 })
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({
        authUrl: 'https://weblink-auth.example.com',
        credentials: client,
        maxWait: 1,
      }),
      weblink: weblinkIssuer({ authUrl: 'https://auth.example.com', credentials: client, maxWait: 1 }),
    },
    apis: [],
    fetch,
  })
  await expect(tokens.getToken('general')).rejects.toThrow(
    'issuer "general" (https://weblink-auth.example.com/public/security/v1/token) has no token endpoint at this path (status 404): check `issuers.general.authUrl`; is it the weblink issuer\'s, whose path is /IdentityServer/connect/token?',
  )
  await expect(tokens.getToken('weblink')).rejects.toThrow(
    "check `issuers.weblink.authUrl`; is it the general issuer's, whose path is /public/security/v1/token?",
  )
})
