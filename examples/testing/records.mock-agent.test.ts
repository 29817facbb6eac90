import { MockAgent, setGlobalDispatcher } from 'undici'
import { expect, test } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { createRecords } from './records.ts'

test('a record is read with the token', async () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  setGlobalDispatcher(agent)
  agent
    .get('https://api.example.com')
    .intercept({
      path: '/records/A1',
      headers: { authorization: 'Bearer test-token' },
    })
    .reply(200, { id: 'A1' })

  const records = createRecords(
    fakeTokens({ apis: ['https://api.example.com/'] }),
  )
  expect(await records.read('A1')).toEqual({ id: 'A1' })
  agent.assertNoPendingInterceptors()
})
