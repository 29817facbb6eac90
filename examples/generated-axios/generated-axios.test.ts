import { expect, test } from 'vitest'
import { openGeneralApi } from '@tokenlane/testing/example-service'
import { createRecordsApi } from './client.ts'

test('a generated client sends tokens, and a body again after a 401', async () => {
  const { sandbox, tokens } = await openGeneralApi()
  const api = createRecordsApi(tokens, sandbox.apiUrl)

  const { data } = await api.records.recordsList({ page: 1, size: 10 })
  expect(data.records).toHaveLength(10)

  sandbox.control.revokeTokens('general')
  const echo = await api.echo.echoCreate({ note: 'sent twice' })
  expect(echo.data).toMatchObject({ method: 'POST', length: JSON.stringify({ note: 'sent twice' }).length })
  expect(sandbox.control.counts().apis.general.rejected).toBe(1)

  await expect(api.records.recordsDetail('none')).rejects.toMatchObject({ response: { status: 404 } })
})
