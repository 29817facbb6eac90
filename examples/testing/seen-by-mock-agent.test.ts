import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici'
import { onTestFinished } from 'vitest'
import { Seen, seesTheCallsOf } from './seen.ts'

// axios and got send with node:https, which MockAgent does not see
seesTheCallsOf(['fetch', 'ky', 'undici'], () => {
  const seen = new Seen()
  const agent = new MockAgent()
  agent.disableNetConnect()
  const json = { headers: { 'content-type': 'application/json' } }
  agent
    .get('https://auth.example.com')
    .intercept({ path: '/public/security/v1/token', method: 'POST' })
    .reply(200, () => seen.tokenResponse(), json)
    .persist()
  agent
    .get('https://api.example.com')
    .intercept({ path: '/records' })
    .reply(({ headers }) => {
      const { authorization } = headers as Record<string, string>
      return { statusCode: seen.status(authorization), data: '{}', responseOptions: json }
    })
    .persist()
  const before = getGlobalDispatcher()
  setGlobalDispatcher(agent)
  onTestFinished(() => setGlobalDispatcher(before))
  return seen
})
