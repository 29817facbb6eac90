import { expect, test } from 'vitest'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import { limitedApi } from '../../test/limited-api.ts'

fakeTime()

test.each([
  ['of five minutes', '300'],
  ['that nothing names', undefined],
])('a manager that closes in a pause %s gives a refused call its 429', async (_, retryAfter) => {
  const { api, tokens, eventsOf } = limitedApi({ limits: [] })
  const call = api.send(async () => ({ status: 429, retryAfter, result: 429, discard() {} }))
  await pass(20)
  const closing = tokens.close()
  await pass(0)
  await closing
  expect(await call).toBe(429)
  expect(eventsOf('call.finished')).toMatchObject([{ status: 429 }])
})

test('a call that is refused while the manager closes is not waited for', async () => {
  const { call, answers, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter: '60', result: 'refused' })
  const last = call()
  const closing = tokens.close()
  await pass(10)
  await closing
  expect(await last).toBe('refused')
})

test.each([
  ['without a rate policy', undefined],
  ['with one', { limits: [] }],
])('%s, a call that waits for a token ends as soon as the manager closes', async (_, ratePolicy) => {
  const { tokens, issuer } = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ...(ratePolicy && { ratePolicy }) }] },
  )
  issuer.respondWith(() => unavailable())
  const call = tokens
    .route('https://api.example.com/')
    ?.send(async () => ({ status: 200, result: 200, discard() {} }))
  const outcome = call?.catch((error: unknown) => error)
  await pass(100)
  const closing = tokens.close()
  await pass(0)
  await closing
  expect(await outcome).toMatchObject({ code: 'MANAGER_CLOSED' })
})
