import { expect, test } from 'vitest'

import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { answer, apiOf } from '../../test/one-api.ts'
import type { SendOptions } from '../adapter.ts'
import type { TokenlaneError } from '../errors.ts'

fakeTime()

const baseUrl = 'https://api.example.com/'
const policies = [undefined, { limits: [], concurrency: 1 }]
const ownTimeout = (ms: number): SendOptions => ({
  tokenWait: { ms, error: (cause: TokenlaneError) => new Error('own timeout', { cause }) },
})
const service = (ratePolicy: (typeof policies)[number], maxWait = 15_000) =>
  fakeService({ maxWait }, { apis: [{ baseUrl, issuer: 'general', ratePolicy }] })
/** Returns what became of a call, and when. */
function outcomeOf(call: Promise<unknown>) {
  const start = performance.now()
  return call.then(
    (value) => ({ value, after: performance.now() - start }),
    (error: Error) => ({ error, after: performance.now() - start }),
  )
}

test.each(policies)(
  'a slow issuer: the wait ends in time, and the renewal goes on (policy %j)',
  async (policy) => {
    const { tokens, issuer } = service(policy)
    issuer.respondOnceWith(() => issuer.after(4_000))
    const call = (options?: SendOptions) =>
      outcomeOf(apiOf(tokens).send(async () => answer(200, 200), options))
    const short = call(ownTimeout(1_000))
    const long = call(ownTimeout(5_000))
    const none = call()
    await pass(4_000)
    const cause = { code: 'TOKEN_REQUEST_TIMEOUT', issuer: 'general', api: baseUrl }
    expect(await short).toMatchObject({ error: { message: 'own timeout', cause }, after: 1_000 })
    for (const served of [long, none]) expect(await served).toEqual({ value: 200, after: 4_000 })
    expect(issuer.count).toBe(1)
    await tokens.close()
  },
)

test.each(policies)(
  'an issuer that fails: the cause is what the last try failed with (policy %j)',
  async (policy) => {
    const { tokens, issuer } = service(policy)
    issuer.respondWith(() => unavailable())
    const call = outcomeOf(apiOf(tokens).send(async () => answer(200, 200), ownTimeout(1_000)))
    await pass(1_000)
    expect(await call).toMatchObject({
      error: { cause: { code: 'TOKEN_REQUEST_FAILED', status: 503 } },
      after: 1_000,
    })
    await tokens.close()
  },
)

test('the wait for a turn does not count, and the wait for a token that comes after it does', async () => {
  const { tokens, issuer } = service(policies[1])
  issuer.lifetime = 60
  const first = apiOf(tokens).send(async () => {
    await new Promise((resolve) => setTimeout(resolve, 120_000))
    return answer(200, 200)
  })
  await pass(0)
  issuer.respondWith(() => issuer.after(4_000))
  const call = outcomeOf(apiOf(tokens).send(async () => answer(200, 200), ownTimeout(1_000)))
  await pass(125_000)
  await first
  expect(await call).toMatchObject({ error: { message: 'own timeout' }, after: 121_000 })
  await tokens.close()
})

test('a signal that aborts first ends the wait with its reason, and leaves no timer', async () => {
  const { tokens, issuer } = service(policies[0])
  issuer.respondOnceWith(() => issuer.after(4_000))
  const controller = new AbortController()
  const options = { ...ownTimeout(1_000), signal: controller.signal }
  const call = outcomeOf(apiOf(tokens).send(async () => answer(200, 200), options))
  await pass(500)
  controller.abort('enough')
  expect(await call).toEqual({ error: 'enough', after: 500 })
  await pass(3_500)
  await tokens.close()
})
