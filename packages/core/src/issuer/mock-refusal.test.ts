import { expect, test, vi } from 'vitest'

import { client, fakeService } from '../../test/fake-issuer.ts'

const url = 'https://auth.example.com/public/security/v1/token'
const coded = (code: string, message: string, more = {}): Error =>
  Object.assign(new Error(message), { code, ...more })
const inFetch = (cause: Error): Error => new TypeError('fetch failed', { cause })

test.each([
  [
    "undici's MockAgent",
    inFetch(coded('UND_MOCK_ERR_MOCK_NOT_MATCHED', `Mock dispatch not matched for path '/token'`)),
    `Mock dispatch not matched for path '/token'`,
  ],
  [
    "undici's MockAgent, about a body",
    inFetch(
      coded(
        'UND_MOCK_ERR_MOCK_NOT_MATCHED',
        `Mock dispatch not matched for body 'client_secret=secret-1' on path '/t'`,
      ),
    ),
    'Mock dispatch not matched',
  ],
  [
    'nock without the net',
    coded('ENETUNREACH', `Nock: Disallowed net connect for "${url}"`, { name: 'NetConnectNotAllowedError' }),
    `Nock: Disallowed net connect for "${url}"`,
  ],
  [
    'nock without a match',
    inFetch(
      coded('ERR_NOCK_NO_MATCH', `Nock: No match for request {\n  "body": "client_secret=secret-1"\n}`),
    ),
    'Nock: No match for request',
  ],
  [
    'msw',
    inFetch(
      new Error(
        '[MSW] Cannot bypass a request when using the "error" strategy for the "onUnhandledRequest" option.',
      ),
    ),
    '[MSW] Cannot bypass a request',
  ],
])('%s that refuses a token request is quoted at once, without a secret', async (_what, refusal, quoted) => {
  vi.useFakeTimers()
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => refusal)
  const error: unknown = await tokens.getToken('general').catch((thrown: unknown) => thrown)
  vi.useRealTimers()
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', definite: true })
  expect((error as Error).message).toContain(quoted)
  expect((error as Error).message).not.toContain('secret-1')
  expect(client).toMatchObject({ clientSecret: 'secret-1' })
  expect(issuer.count).toBe(1)
})
