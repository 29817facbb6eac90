import { expect, test } from 'vitest'
import { openGeneralApi } from '@tokenlane/testing/example-programs'
import { createRecordsClient } from './openapi.ts'

test('a typed client sends tokens, and a body again after a 401', async () => {
  const { sandbox, tokens } = await openGeneralApi()
  const client = createRecordsClient(tokens, sandbox.apiUrl)

  const list = await client.GET('/records', { params: { query: { page: 1, size: 10 } } })
  expect(list.data?.records).toHaveLength(10)

  sandbox.control.revokeTokens('general')
  const echo = await client.POST('/echo', { body: { note: 'sent twice' } })
  expect(echo.data).toMatchObject({ method: 'POST', length: JSON.stringify({ note: 'sent twice' }).length })
  expect(sandbox.control.counts().apis.general.rejected).toBe(1)

  const none = await client.GET('/records/{id}', { params: { path: { id: 'none' } } })
  expect(none.error?.status).toBe(404)
})
