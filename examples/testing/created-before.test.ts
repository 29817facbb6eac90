import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clients } from './clients.ts'
import { createTokens } from './manager.ts'

// What was created before msw listens, as in a module of the application.
const tokens = createTokens()
const { fetch, axios, got, ky } = clients

const server = setupServer(
  http.post('https://auth.example.com/public/security/v1/token', () =>
    HttpResponse.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3600 }),
  ),
  http.get('https://api.example.com/records', ({ request }) =>
    HttpResponse.json(request.headers.get('authorization')),
  ),
)
const made = Object.entries({ fetch, axios, got, ky }).map(([name, of]) => [name, of?.(tokens)] as const)
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterAll(() => server.close())

test.each(made)('msw sees %s, and the token requests of the manager', async (_, client) => {
  expect(await client?.('https://api.example.com/records')).toBe('Bearer token-1')
})
