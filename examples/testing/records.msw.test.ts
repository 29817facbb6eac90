import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { createRecords } from './records.ts'

const server = setupServer(
  http.get('https://api.example.com/records/A1', ({ request }) =>
    HttpResponse.json({ sentWith: request.headers.get('authorization') }),
  ),
)
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterAll(() => server.close())

test('a record is read with the token', async () => {
  const records = createRecords(
    fakeTokens({ apis: ['https://api.example.com/'] }),
  )
  expect(await records.read('A1')).toEqual({ sentWith: 'Bearer test-token' })
})
