import type { IncomingMessage } from 'node:http'

import { expect, test } from 'vitest'

import { redirectEndpoint } from './redirect.ts'

const baseUrl = 'https://127.0.0.1:1/api/'
const redirect = async (query: Record<string, string>) =>
  redirectEndpoint({ request: {} as IncomingMessage, rest: '', query: new URLSearchParams(query), baseUrl })

test('302 is the default', async () => {
  const { status, headers } = await redirect({ to: 'https://example.com/' })
  expect(status).toBe(302)
  expect(headers?.['location']).toBe('https://example.com/')
})

test.each([
  ['records/7', 'https://127.0.0.1:1/api/records/7'],
  ['/outside/x', 'https://127.0.0.1:1/outside/x'],
  ['//example.com/\r\nx: y', 'https://example.com/x:%20y'],
])('%j is resolved against the base URL', async (to, location) => {
  expect((await redirect({ to })).headers?.['location']).toBe(location)
})

test.each([{}, { to: '' }, { to: 'https://' }, { to: '/', status: '200' }, { to: '/', status: '300' }])(
  '%j is refused',
  async (query) => {
    expect((await redirect(query as Record<string, string>)).status).toBe(400)
  },
)
