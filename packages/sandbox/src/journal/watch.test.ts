import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:https'
import { connect } from 'node:tls'
import { promisify } from 'node:util'

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import { callApi, exchange, requestToken, tokenEndpoint, tokenOf } from '../../test/client.ts'
import { startSandbox, type Sandbox } from '../start-sandbox.ts'
import type { JournalEntry } from './entry.ts'

let sandbox: Sandbox
beforeAll(async () => {
  const limits = [{ quota: 1, window: 60_000 }]
  sandbox = await startSandbox({ ratePolicies: { weblink: { limits } } })
})
afterEach(() => {
  sandbox.control.restoreIssuer()
  sandbox.control.restoreApi()
  sandbox.control.setTokenLifetime(3_600_000)
  sandbox.control.setRatePolicy('weblink', { limits: [{ quota: 1, window: 60_000 }] })
  sandbox.control.clearJournal()
})
afterAll(() => sandbox.close())

// long enough for a busy machine, which forgives less once this process has time between two looks
const patience = { interval: 250 }

const last = (): JournalEntry | undefined => sandbox.control.journal({ limit: 1 })[0]
const rulesBroken = (): string[] => sandbox.control.verdict().findings.map(({ rule }) => rule)

test('an entry says when, where, which client, which token, what was decided and why', async () => {
  const token = await tokenOf(sandbox, 'general')
  const name = last()?.token
  expect(last()).toMatchObject({
    target: 'general-issuer',
    decision: 'issued',
    reason: `issued ${name} for 3,600 s`,
  })
  await callApi(sandbox, 'general', {
    token,
    headers: { 'user-agent': 'reader/1.2 (of records)' },
    path: 'records?page=1',
  })
  expect(last()).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    target: 'general-api',
    client: 'reader/1.2',
    connection: expect.any(Number),
    method: 'GET',
    path: '/records',
    token: name,
    status: 200,
    decision: 'answered',
    reason: expect.stringMatching(/^live token, 3,(?:600|599) s left$/),
  })
})

test('a foreign token is named with both sides', async () => {
  await callApi(sandbox, 'weblink', { token: await tokenOf(sandbox, 'general') })
  expect(last()).toMatchObject({
    decision: 'refused',
    reason: 'token from the general issuer at the weblink API',
  })
  expect(rulesBroken()).toEqual(['foreign-token', 'work-lost'])
})

test('a token that no issuer issued is unknown', async () => {
  await callApi(sandbox, 'weblink', { token: 'none' })
  expect(last()).toMatchObject({ token: 'unknown', reason: 'token that no issuer of this sandbox issued' })
})

test.each(['undefined', 'null', '[object Object]'])(
  'a program that sends %s has not looked at the token response',
  async (token) => {
    await callApi(sandbox, 'weblink', { token })
    expect(last()?.reason).toBe(`the text "${token}" instead of a token`)
    const { findings } = sandbox.control.verdict()
    expect(findings.find(({ rule }) => rule === 'foreign-token')?.fix).toContain(
      'If a call sent the text "undefined", check the status and access_token of the token response.',
    )
  },
)

test('a call is not lost while its issuer fails on demand', async () => {
  const token = await tokenOf(sandbox, 'general')
  sandbox.control.expireTokens('general')
  sandbox.control.failIssuer('general', { status: 503 })
  expect((await callApi(sandbox, 'general', { token })).status).toBe(401)
  expect((await requestToken(sandbox, 'general')).status).toBe(503)
  expect(sandbox.control.verdict()).toEqual({ ok: true, findings: [] })
  sandbox.control.restoreIssuer('general')
  await tokenOf(sandbox, 'general')
  expect(rulesBroken()).toEqual(['work-lost'])
})

test('over the limit is said with the count, the quota and the window', async () => {
  await callApi(sandbox, 'weblink', {})
  await callApi(sandbox, 'weblink', {})
  expect(last()).toMatchObject({ status: 429, decision: 'limited', reason: 'over the limit: 2 of 1 in 60 s' })
  expect(rulesBroken()).toContain('over-limit')
})

test('an expired token is the client’s mistake if its end was promised, and not if it came early', async () => {
  const early = await tokenOf(sandbox, 'general')
  sandbox.control.expireTokens()
  await callApi(sandbox, 'general', { token: early })
  expect(last()?.reason).toMatch(/^expired \d+ ms ago, earlier than promised$/)
  expect(rulesBroken()).not.toContain('expired-token')

  sandbox.control.setTokenLifetime(1)
  const short = await tokenOf(sandbox, 'general')
  const isFound = async (): Promise<boolean> => {
    await callApi(sandbox, 'general', { token: short })
    return rulesBroken().includes('expired-token')
  }
  await vi.waitUntil(isFound, patience)
  expect(last()?.reason).toMatch(/^expired [\d.]+ m?s ago$/)
})

test.each<[string, string, Parameters<typeof requestToken>[2], Parameters<typeof requestToken>[3], string]>([
  ['a wrong secret', 'client-authentication', { client_secret: 'x' }, {}, 'a wrong client_secret'],
  ['no secret', 'client-authentication', { client_secret: undefined }, {}, 'no client_secret in the form'],
  [
    'an unknown client',
    'client-authentication',
    { client_id: 'x' },
    {},
    'unknown client_id: the general issuer expects another one',
  ],
  [
    'a Basic header',
    'client-authentication',
    {},
    { headers: { authorization: 'Basic x' } },
    'credentials in an Authorization header: they belong in the form',
  ],
  [
    'JSON',
    'content-type',
    {},
    { headers: { 'content-type': 'application/json' } },
    'content type application/json instead of application/x-www-form-urlencoded',
  ],
  ['a scope', 'token-request', { scope: 'other' }, {}, 'invalid_scope, this issuer has no scopes'],
])('a token request with %s breaks %s', async (_name, rule, form, sent, reason) => {
  await requestToken(sandbox, 'general', form, sent)
  expect(last()).toMatchObject({ decision: 'refused', token: null, reason })
  expect(rulesBroken()).toEqual([rule])
})

test('a secret that was rotated out is not held against the client', async () => {
  const { clientSecret } = sandbox.credentials.general
  sandbox.control.rotateSecret('general')
  await requestToken(sandbox, 'general', { client_secret: clientSecret })
  expect(last()?.reason).toBe('a secret that was rotated out')
  expect(rulesBroken()).toEqual([])
})

test('a program that opens a connection for each call is found', async () => {
  const token = await tokenOf(sandbox, 'general')
  const agent = new Agent({ ca: sandbox.ca, keepAlive: false })
  for (let call = 0; call < 20; call += 1) await callApi(sandbox, 'general', { token, tls: { agent } })
  await vi.waitFor(() => expect(rulesBroken()).toEqual(['no-keep-alive']), patience)
})

test('processes that make one call each are not found, though each opens a connection', async () => {
  const token = await tokenOf(sandbox, 'general')
  const url = `${sandbox.apiUrl}status/200`
  const program = `
    const agent = new (require('node:https').Agent)({ keepAlive: true, ca: process.env.CA })
    const headers = { authorization: 'Bearer ${token}', 'user-agent': 'job/1' }
    require('node:https').get('${url}', { agent, headers }, (response) => {
      response.resume().on('end', () => agent.destroy())
    })`
  for (let run = 0; run < 8; run += 1)
    await promisify(execFile)(process.execPath, ['--eval', program], { env: { CA: sandbox.ca } })
  expect(new Set(sandbox.control.journal({ client: 'job/1' }).map(({ connection }) => connection)).size).toBe(
    8,
  )
  expect(rulesBroken()).toEqual([])
})

test('a token and a secret in a URL are found, and stand nowhere in the journal', async () => {
  const token = await tokenOf(sandbox, 'weblink')
  const { clientSecret } = sandbox.credentials.general
  await exchange(sandbox, `${tokenEndpoint(sandbox, 'general')}?client_secret=${clientSecret}`, {
    method: 'POST',
  })
  await exchange(sandbox, `${sandbox.apiUrl}records/${token}`)
  await exchange(sandbox, `${sandbox.apiUrl}records?key=${token}`)
  expect(rulesBroken()).toEqual(expect.arrayContaining(['token-in-url', 'secret-in-url']))
  expect(sandbox.control.journal().at(-2)?.path).toBe('/records/[redacted]')
  const shown = JSON.stringify([
    sandbox.control.journal(),
    sandbox.control.verdict(),
    sandbox.control.state(),
  ])
  expect(shown).not.toContain(token)
  expect(shown).not.toContain(clientSecret)
})

test('a token outside of the API is found', async () => {
  const outside = new URL('/outside/anything', sandbox.weblinkUrl).href
  await exchange(sandbox, outside, { headers: { authorization: 'Bearer x' } })
  expect(last()?.reason).toBe('outside the API, with an Authorization header')
  expect(rulesBroken()).toEqual(['token-outside'])
})

test('a fault is said to be one', async () => {
  sandbox.control.failIssuer('general', { status: 503 })
  await requestToken(sandbox, 'general')
  expect(last()).toMatchObject({
    status: 503,
    decision: 'failed',
    reason: 'the sandbox responded with 503 (failIssuer)',
  })
  sandbox.control.killApi('general')
  await expect(callApi(sandbox, 'general', {})).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(last()).toMatchObject({
    status: null,
    decision: 'failed',
    reason: 'the sandbox cut the connection (killApi)',
  })
  expect(rulesBroken()).toEqual([])
})

test('a connection cut in mid-body has its status, and half of its body', async () => {
  const token = await tokenOf(sandbox, 'general')
  sandbox.control.killApi('general', { midBody: true })
  await expect(callApi(sandbox, 'general', { token, path: 'records' })).rejects.toMatchObject({
    code: 'ECONNRESET',
  })
  expect(last()).toMatchObject({ status: 200, decision: 'failed' })
  expect(sandbox.control.counts().apis.general.failed).toBeGreaterThan(0)
  sandbox.control.killIssuer('general', { midBody: true, times: 1 })
  await expect(tokenOf(sandbox, 'general')).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
})

test('requests on one connection have its number, another connection has another', async () => {
  await callApi(sandbox, 'general', {})
  await callApi(sandbox, 'general', {})
  await callApi(sandbox, 'general', { tls: { agent: new Agent({ ca: sandbox.ca }) } })
  const [first, second, third] = sandbox.control.journal().map(({ connection }) => connection)
  expect(second).toBe(first)
  expect(third).not.toBe(first)
})

test.each([
  ['TLSv1.1', 'refused', 'offered TLS 1.1 and nothing newer'],
  ['TLSv1.3', 'answered', 'offered TLS 1.0 and TLS 1.1 alongside a newer version'],
] as const)('a client that offers TLS 1.0 up to %s is found', async (maxVersion, decision, reason) => {
  const port = Number(new URL(sandbox.apiUrl).port)
  const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const socket = connect({ host: '127.0.0.1', port, ca: sandbox.ca, maxVersion, ...old })
  await once(socket, 'secureConnect').catch(() => {})
  socket.destroy()
  expect(last()).toMatchObject({
    target: 'general-api',
    method: null,
    path: null,
    status: null,
    decision,
    reason,
  })
  expect(rulesBroken()).toEqual(['old-tls'])
})

test('the defaults of Node offer nothing old', async () => {
  await callApi(sandbox, 'general', { tls: { agent: new Agent({ ca: sandbox.ca }) } })
  expect(rulesBroken()).not.toContain('old-tls')
})

test.each<[string, (sandbox: Sandbox) => void, () => Promise<unknown>]>([
  [
    'an API, in seconds',
    ({ control }) => control.failApi('general', { status: 429, retryAfter: 60 }),
    () => callApi(sandbox, 'general', {}),
  ],
  [
    'an API, as a date',
    ({ control }) =>
      control.failApi('general', { status: 503, retryAfter: new Date(Date.now() + 60_000).toUTCString() }),
    () => callApi(sandbox, 'general', {}),
  ],
  [
    'an issuer',
    ({ control }) => control.failIssuer('general', { status: 503, retryAfter: 60, times: 1 }),
    () => requestToken(sandbox, 'general'),
  ],
])(
  'a client that ignores the Retry-After of %s is found when it could have known',
  async (_name, fail, ask) => {
    fail(sandbox)
    await ask()
    await ask()
    expect(rulesBroken()).not.toContain('ignored-retry-after')
    const isFound = async (): Promise<boolean> => {
      await ask()
      return rulesBroken().includes('ignored-retry-after')
    }
    await vi.waitUntil(isFound, patience)
  },
)
