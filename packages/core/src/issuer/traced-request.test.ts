import { tracingChannel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { client, fakeService, refusal } from '../../test/fake-issuer.ts'

const channel = tracingChannel('tokenlane:token.request')
const stages: [string, object][] = []
const subscriber = Object.fromEntries(
  ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((stage) => [
    stage,
    (message: object) => stages.push([stage, message]),
  ]),
) as never
afterEach(() => {
  channel.unsubscribe(subscriber)
  stages.length = 0
})

const endpoint = 'https://auth.example.com/public/security/v1/token'

test('a subscriber sees each token request: from its start to the token', async () => {
  channel.subscribe(subscriber)
  const { tokens } = fakeService()
  await Promise.all([tokens.getToken('general'), tokens.getToken('general')])
  expect(stages.map(([stage]) => stage)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
  for (const [, message] of stages)
    expect(message).toEqual({
      manager: tokens,
      issuer: 'general',
      endpoint,
      reason: 'startup',
      outcome: 'issued',
      duration: expect.any(Number) as number,
    })
})

test('two refused secrets are two requests, which say why they failed and show no secret', async () => {
  channel.subscribe(subscriber)
  const other = { ...client, clientSecret: 'secret-2' }
  const { tokens, issuer } = fakeService({ credentials: [client, other] })
  issuer.respondWith(() => refusal())
  await tokens.getToken('general').catch(() => {})
  const failed = stages.filter(([stage]) => stage === 'error').map(([, message]) => message)
  expect(failed).toHaveLength(2)
  for (const message of failed)
    expect(message).toEqual({
      manager: tokens,
      issuer: 'general',
      endpoint,
      reason: 'startup',
      outcome: 'failed',
      code: 'TOKEN_REQUEST_REFUSED',
      duration: expect.any(Number) as number,
      error: expect.objectContaining({ oauthError: 'invalid_client' }) as Error,
    })
  expect(inspect(stages, { depth: 12, showHidden: true })).not.toMatch(/secret-[12]/)
})

test('without a subscriber no message is made', async () => {
  const { tokens } = fakeService()
  await tokens.getToken('general')
  expect(stages).toEqual([])
})
