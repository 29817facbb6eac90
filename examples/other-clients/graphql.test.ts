import { expect, test, vi } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { createRecordsClient, recordById } from './graphql.ts'

const url = 'https://api.example.com/graphql'

test('a query has the token, and is sent again after a 401', async () => {
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  const answers = [new Response(null, { status: 401 }), Response.json({ data: { record: { amount: 12 } } })]
  const send = vi.fn<typeof fetch>(async () => answers.shift() as Response)
  const client = createRecordsClient(tokens, url, { fetch: send })

  expect(await client.request(recordById, { id: 'A1' })).toEqual({ record: { amount: 12 } })
  const sent = send.mock.calls.map(([, init]) => init)
  expect(sent.map((init) => new Headers(init?.headers).get('authorization'))).toEqual([
    'Bearer test-token',
    'Bearer test-token-2',
  ])
  expect(JSON.parse(sent[1]?.body as string)).toMatchObject({ variables: { id: 'A1' } })
})

test("an error that comes with status 200 is the client's, and renews no token", async () => {
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  const errors = [{ message: 'not allowed', extensions: { code: 'UNAUTHENTICATED' } }]
  const client = createRecordsClient(tokens, url, { fetch: async () => Response.json({ errors }) })

  await expect(client.request(recordById, { id: 'A1' })).rejects.toThrow('not allowed')
  expect(tokens.counts()).toMatchObject({ calls: 1, sends: 1 })
})
