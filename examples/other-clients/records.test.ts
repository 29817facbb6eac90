import { expect, test } from 'vitest'
import { openGeneralApi } from '@tokenlane/testing/example-programs'
import { ofetchWithTokens } from './ofetch.ts'

test('the library sends tokens and retries by its own rule', async () => {
  const { sandbox, tokens } = await openGeneralApi()
  const records = ofetchWithTokens(tokens).create({ baseURL: sandbox.apiUrl })

  expect(await records('records/INV-0000001')).toMatchObject({ id: 'INV-0000001' })

  sandbox.control.revokeTokens('general')
  expect(await records('echo', { method: 'POST', body: { note: 'sent twice' } })).toMatchObject({
    method: 'POST',
  })
  expect(sandbox.control.counts().apis.general.rejected).toBe(1)

  sandbox.control.failApi('general', { status: 503, times: 1 })
  expect(await records('records/INV-0000002')).toMatchObject({ id: 'INV-0000002' })

  await expect(records('records/none')).rejects.toMatchObject({ name: 'FetchError', status: 404 })
})
