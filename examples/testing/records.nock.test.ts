import nock from 'nock'
import { expect, test } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { createRecords } from './records.ts'

test('a record is read with the token', async () => {
  nock('https://api.example.com', {
    reqheaders: { authorization: 'Bearer test-token' },
  })
    .get('/records/A1')
    .reply(200, { id: 'A1' })

  const records = createRecords(
    fakeTokens({ apis: ['https://api.example.com/'] }),
  )
  expect(await records.read('A1')).toEqual({ id: 'A1' })
})
