import { expect, test } from 'vitest'
import { FakeIssuer, refusal } from '../../test/fake-issuer.ts'
import { answer } from '../../test/one-api.ts'
import type { Exchange } from '../adapter.ts'
import { isTokenlaneError, type TokenlaneEvent, tokensFor } from '../index.ts'
import { configurationOf } from './inspection.ts'

const given = {
  tokenEndpoint: 'https://login.example.com/token',
  credentials: { clientId: 'client', clientSecret: 'secret' },
  baseUrl: 'https://api.example.com/v1/',
}

const messageOf = (options: object): string => {
  try {
    tokensFor(options as typeof given)
  } catch (error) {
    if (isTokenlaneError(error)) return error.message
  }
  throw new Error('not refused')
}

test('one API gets the token of one issuer, asked with its scope and parameters', async () => {
  const issuer = new FakeIssuer()
  const parameters = { audience: 'https://api.example.com' }
  await using tokens = tokensFor({ ...given, scope: 'read', parameters, fetch: issuer.fetch })
  const authorization = await tokens.route('https://api.example.com/v1/a')?.send(async (header) => ({
    status: 200,
    result: header,
    discard() {},
  }))
  expect(authorization).toBe(`Bearer ${(await tokens.getToken('default')).value}`)
  expect(issuer.requests).toEqual([expect.objectContaining({ scope: 'read', ...parameters })])
  expect(tokens.route('https://api.example.com/v2/a')).toBeUndefined()
})

test('the only issuer needs no name', async () => {
  const issuer = new FakeIssuer()
  await using tokens = tokensFor({ ...given, fetch: issuer.fetch })
  const first = await tokens.getToken()
  expect(first).toMatchObject({ issuer: 'default' })
  expect(await tokens.getToken(undefined, { signal: AbortSignal.timeout(5_000) })).toBe(first)
  tokens.invalidate()
  expect((await tokens.getToken('default')).value).not.toBe(first.value)
  await tokens.close()
  await expect(tokens.getToken()).rejects.toThrow('issuer "default"')
})

test('every other way of oauthIssuer, and a rate policy, are options too', async () => {
  const { tokenEndpoint: _, ...rest } = given
  const ratePolicy = { limits: [{ quota: 25, window: 1_000 }] }
  await using tokens = tokensFor({
    ...rest,
    issuer: 'https://login.example.com',
    clientAuthentication: 'client_secret_basic',
    ratePolicy,
  })
  expect(tokens.status().apis).toEqual([
    expect.objectContaining({ baseUrl: given.baseUrl, issuer: 'default', queued: 0, quotaLeft: 25 }),
  ])
})

test.each(['apis', 'issuers'])('`%s` leads to what takes several', (name) => {
  expect(messageOf({ ...given, [name]: [] })).toContain(
    `\`${name}\` is not an option of one API; allowed: for several, \`createTokenManager({ issuers, apis })\``,
  )
})

test('one error names everything that is wrong, as it was given', () => {
  const limits = [{ quota: 0, window: 1_000 }]
  const message = messageOf({ ...given, baseURL: given.baseUrl, scope: '', ratePolicy: { limits }, fetch: 7 })
  expect(message).toContain('Cannot create token manager: 4 options are invalid:\n')
  expect(message).toContain('\n- `baseURL` is not an option (did you mean `baseUrl`?)')
  expect(message).toContain('\n- `scope` is empty; allowed: a non-empty string')
  expect(message).toContain('\n- `ratePolicy.limits[0].quota` is 0')
  expect(message).toContain('\n- `fetch` is 7')
})

test('what goes wrong later names the options as they were given, too', async () => {
  const issuer = new FakeIssuer()
  await using tokens = tokensFor({ ...given, fetch: issuer.fetch })
  issuer.respondOnceWith(() => refusal('unauthorized_client'))
  await expect(tokens.warmUp()).rejects.toThrow('check the client id and secret in `credentials`')
  expect(configurationOf(tokens)?.issuers).toMatchObject([
    { option: 'tokenEndpoint', credentials: 'credentials' },
  ])
})

test('a token endpoint that is not there is named as it was given', async () => {
  const issuer = new FakeIssuer().respondWith(() => new Response('', { status: 404 }))
  await using tokens = tokensFor({ ...given, fetch: issuer.fetch })
  await expect(tokens.warmUp()).rejects.toThrow('check `tokenEndpoint`')
})

test('an API that refuses every new token asks whether its issuer is the right one', async () => {
  const events: TokenlaneEvent[] = []
  await using tokens = tokensFor({
    ...given,
    fetch: new FakeIssuer().fetch,
    observe: (event) => events.push(event),
  })
  const refused = async (): Promise<Exchange<undefined>> => answer(401, undefined)
  for (const _ of 'ab') await tokens.route(given.baseUrl)?.send(refused, { replayable: false })
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'rejection.repeated', option: 'tokenEndpoint' }),
  )
})

test('options that are missing are named', () => {
  expect(messageOf({})).toMatch(/`credentials` is missing[^]*`baseUrl` is missing/)
  expect(messageOf(undefined as unknown as object)).toMatch(/`options` is missing; allowed: an object/)
})
