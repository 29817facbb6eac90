import { installTokens } from '@tokenlane/fetch'
import { MockAgent, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'

test('tokens that are installed for the process are seen by MockAgent', async () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  setGlobalDispatcher(agent)
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  onTestFinished(installTokens(tokens))
  agent
    .get('https://api.example.com')
    .intercept({ path: '/records', headers: { authorization: 'Bearer test-token' } })
    .reply(200, {})

  expect((await fetch('https://api.example.com/records')).status).toBe(200)
  expect(tokens.counts()).toMatchObject({ calls: 1, sends: 1 })
})
