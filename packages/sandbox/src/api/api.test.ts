import { createHash } from 'node:crypto'

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { callApi, exchange, tokenOf, type Sent } from '../../test/client.ts'
import { realms } from '../realm.ts'
import { startSandbox, type Sandbox } from '../start-sandbox.ts'

let sandbox: Sandbox
let token: string
let weblinkToken: string
beforeAll(async () => {
  sandbox = await startSandbox({ records: 250 })
  token = await tokenOf(sandbox, 'general')
  weblinkToken = await tokenOf(sandbox, 'weblink')
})
afterEach(() => sandbox.control.resetCounts())
afterAll(() => sandbox.close())

const call = (path: string, sent: Sent = {}) => callApi(sandbox, 'general', { path, token, ...sent })

test.each(realms)('the %s API refuses a call without a token', async (realm) => {
  const { status, headers } = await callApi(sandbox, realm, {})
  expect(status).toBe(401)
  expect(headers['www-authenticate']).toBe('Bearer')
  expect(sandbox.control.counts().apis[realm]).toMatchObject({ calls: 1, answered: 0, rejected: 1 })
})

test.each(realms)('the %s API refuses the token of the other issuer', async (realm) => {
  const foreign = realm === 'general' ? weblinkToken : token
  const { status, headers, json } = await callApi(sandbox, realm, { token: foreign })
  expect(status).toBe(401)
  expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"')
  expect(json['status']).toBe(401)
})

test('a JWT with a changed claim is refused', async () => {
  const [header, payload = '', signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'other' })).toString('base64url')
  const { status } = await callApi(sandbox, 'general', { token: `${header}.${changed}.${signature}` })
  expect(status).toBe(401)
})

test('a token of another sandbox is refused', async () => {
  await using other = await startSandbox()
  for (const realm of realms) {
    const { status } = await callApi(sandbox, realm, { token: await tokenOf(other, realm) })
    expect(status).toBe(401)
  }
})

test('records come page by page, each page naming the next one', async () => {
  const ids: unknown[] = []
  let next: unknown = `${sandbox.apiUrl}records`
  while (typeof next === 'string') {
    const { json } = await exchange(sandbox, next, { headers: { authorization: `Bearer ${token}` } })
    expect(json).toMatchObject({ pages: 3, total: 250 })
    for (const { id } of json['records'] as { id: string }[]) ids.push(id)
    next = json['next']
  }
  expect(ids).toHaveLength(250)
  expect(new Set(ids).size).toBe(250)
})

test('both APIs page under their own base URLs', async () => {
  const { json } = await callApi(sandbox, 'weblink', { path: 'records?page=2&size=10', token: weblinkToken })
  expect(json['next']).toBe(`${sandbox.weblinkUrl}records?page=3&size=10`)
})

test('one record is the same as in its page; an unknown id is not found', async () => {
  const { json } = await call('records?size=1')
  const [record] = json['records'] as [{ id: string }]
  expect((await call(`records/${record.id}`)).json).toEqual(record)
  const missing = await call('records/INV-0000251')
  expect(missing.status).toBe(404)
  expect(missing.headers['content-type']).toBe('application/problem+json')
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('an echo of %s proves which bytes arrived', async (method) => {
  const body = Buffer.alloc(300_000, 'ä')
  const { json } = await call('echo', {
    method,
    body,
    headers: { 'content-type': 'text/plain', 'x-secret': 'no' },
  })
  expect(json).toEqual({
    method,
    length: 300_000,
    sha256: createHash('sha256').update(body).digest('hex'),
    contentType: 'text/plain',
    headers: expect.not.objectContaining({ authorization: expect.anything(), 'x-secret': 'no' }),
  })
})

test.each([301, 302, 303, 307, 308])('a redirect may be a %i', async (status) => {
  const to = encodeURIComponent('https://example.com/x?y=1')
  const answer = await call(`redirect?to=${to}&status=${status}`)
  expect(answer.status).toBe(status)
  expect(answer.headers.location).toBe('https://example.com/x?y=1')
})

test('a look for metadata without a token is no call, and nothing that the verdict blames', async () => {
  await using own = await startSandbox()
  const url = new URL('/.well-known/oauth-protected-resource', own.apiUrl).href
  expect((await exchange(own, url)).status).toBe(404)
  expect(own.control.counts().apis.general.calls).toBe(0)
  expect(own.control.verdict()).toEqual({ ok: true, findings: [] })
})

test('outside of the weblink base path an origin says only whether an Authorization field came', async () => {
  const outside = new URL('/outside/anything', sandbox.weblinkUrl).href
  expect((await exchange(sandbox, outside)).json).toEqual({ authorization: false })
  const headers = { authorization: 'Bearer x' }
  expect((await exchange(sandbox, outside, { headers })).json).toEqual({ authorization: true })
  const elsewhere = new URL('/apiary', sandbox.weblinkUrl).href
  expect((await exchange(sandbox, elsewhere)).status).toBe(404)
  expect(sandbox.control.counts().apis.weblink.calls).toBe(0)
})

test('an unknown endpoint is not found', async () => {
  expect((await call('nothing')).status).toBe(404)
})

test('a rate over the policy gets a 429 with the time to wait', async () => {
  const limits = [
    { quota: 2, window: 60_000 },
    { quota: 9, window: 120_000 },
  ]
  await using strict = await startSandbox({
    ratePolicies: { general: { limits }, weblink: { limits, retryAfter: false } },
  })
  const statuses = { general: [200, 200, 429], weblink: [200, 200, 429] }
  for (const realm of realms) {
    const own = await tokenOf(strict, realm)
    for (const expected of statuses[realm]) {
      const { status, headers } = await callApi(strict, realm, { token: own })
      expect(status).toBe(expected)
      const promised = expected === 429 && realm === 'general' ? '60' : undefined
      expect(headers['retry-after']).toBe(promised)
    }
    const counts = strict.control.counts().apis[realm]
    expect(counts).toMatchObject({ calls: 3, answered: 2, limited: 1, maxInWindow: [3, 3] })
  }
})

test('delays hold a call before it is counted and its response before it is sent', async () => {
  await using delayed = await startSandbox({ delays: { min: 20, max: 30 } })
  const own = await tokenOf(delayed, 'general')
  const start = performance.now()
  const answer = callApi(delayed, 'general', { token: own })
  expect(delayed.control.counts().apis.general.calls).toBe(0)
  expect((await answer).status).toBe(200)
  expect(performance.now() - start).toBeGreaterThanOrEqual(38)
})
