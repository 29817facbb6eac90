import nock from 'nock'
import { onTestFinished } from 'vitest'
import { Seen, seesTheCallsOf } from './seen.ts'

seesTheCallsOf(['fetch', 'axios', 'got', 'ky', 'undici'], () => {
  const seen = new Seen()
  nock('https://auth.example.com')
    .persist()
    .post('/public/security/v1/token')
    .reply(200, () => seen.tokenResponse())
  nock('https://api.example.com')
    .persist()
    .get('/records')
    .reply((request: Request) => [seen.status(request.headers.get('authorization')), {}])
  onTestFinished(() => nock.cleanAll())
  return seen
})
