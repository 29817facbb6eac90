import { request as plainRequest } from 'node:http'

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { callApi, requestToken, tokenOf } from '../../test/client.ts'
import { startSandbox, type Sandbox } from '../start-sandbox.ts'
import { definitions } from './definitions.ts'
import { pathOf } from './arguments.ts'
import { problemDetails } from './refusals.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ control: true })
})
afterEach(() => {
  sandbox.control.restoreIssuer()
  sandbox.control.restoreApi()
  sandbox.control.setTokenLifetime(3_600_000)
  sandbox.control.resetCounts()
  sandbox.control.clearJournal()
})
afterAll(() => sandbox.close())

interface Received {
  status: number
  type: string | null
  json: Record<string, unknown>
}

async function ask(path: string, init: RequestInit = {}): Promise<Received> {
  const headers = { authorization: `Bearer ${sandbox.controlToken}`, ...(init.headers as object) }
  const response = await fetch(sandbox.controlUrl + path, { ...init, headers })
  const json = (await response.json()) as Record<string, unknown>
  return { status: response.status, type: response.headers.get('content-type'), json }
}
const post = (path: string, body: unknown) => ask(path, { method: 'POST', body: JSON.stringify(body) })

/** Returns the status of a request with these headers, sent by node:http, because fetch() does not send a `Host` header. */
function statusUnder(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${sandbox.controlToken}`
    plainRequest(
      `${sandbox.controlUrl}/v1/counts`,
      { headers: { authorization, ...headers } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
      .on('error', reject)
      .end()
  })
}

test('without the option there is no HTTP control', async () => {
  await using other = await startSandbox()
  expect([other.controlUrl, other.controlToken, other.consoleUrl]).toEqual([undefined, undefined, undefined])
})

test('it is on loopback, and the console address has the token in its fragment', () => {
  expect(sandbox.controlUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(sandbox.consoleUrl).toBe(`${sandbox.controlUrl}/#token=${sandbox.controlToken}`)
})

test('the counts are those of TypeScript', async () => {
  await callApi(sandbox, 'general', { token: await tokenOf(sandbox, 'general') })
  expect((await ask('/v1/counts')).json).toEqual(sandbox.control.counts())
})

test.each<[string, Record<string, string>]>([
  ['no token', {}],
  ['a wrong token', { authorization: 'Bearer wrong' }],
  ['the token of another scheme', { authorization: 'Basic x' }],
])('%s is refused', async (_name, headers) => {
  const response = await fetch(`${sandbox.controlUrl}/v1/counts`, { headers })
  expect(response.status).toBe(401)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
})

test('another Host is refused, as it comes of DNS rebinding', async () => {
  const { port } = new URL(sandbox.controlUrl ?? '')
  expect(await statusUnder({ host: `rebound.example:${port}` })).toBe(421)
  expect(await statusUnder({ host: '127.0.0.1' })).toBe(421)
  expect(await statusUnder({ host: `localhost:${port}` })).toBe(200)
})

test('a page of another origin is refused, even with the token', async () => {
  expect(await statusUnder({ origin: 'https://strange.example' })).toBe(403)
  expect(await statusUnder({ origin: 'null' })).toBe(403)
  expect(await statusUnder({ origin: sandbox.controlUrl ?? '' })).toBe(200)
})

test('named parameters reach the function', async () => {
  const token = await tokenOf(sandbox, 'weblink')
  expect((await post('/v1/revoke-tokens', { issuer: 'weblink' })).status).toBe(200)
  expect((await callApi(sandbox, 'weblink', { token })).json['detail']).toBe('The access token was revoked')
})

test('the fields of an object may stand beside the other parameters, or under its name', async () => {
  const token = await tokenOf(sandbox, 'general')
  await post('/v1/fail-api', { api: 'general', status: 503, times: 1 })
  expect((await callApi(sandbox, 'general', { token })).status).toBe(503)
  await post('/v1/fail-api', { api: 'general', failure: { status: 502, times: 1 } })
  expect((await callApi(sandbox, 'general', { token })).status).toBe(502)
  expect((await callApi(sandbox, 'general', { token })).status).toBe(200)
})

test('times may be texts, as in scenarios, and what an issuer responds with stays as it is', async () => {
  await post('/v1/kill-issuer', { issuer: 'general', for: '20s' })
  await post('/v1/set-issuer-clock', { issuer: 'weblink', offset: '-30s' })
  await post('/v1/slow-api', { api: 'general', ms: { min: '5ms', max: '1m' } })
  const limits = [{ quota: 3, window: '1m' }]
  await post('/v1/set-rate-policy', { api: 'weblink', policy: { limits } })
  const { issuers, apis } = sandbox.control.state()
  expect(issuers.general.fault?.timeLeft).toBeGreaterThan(10_000)
  expect(issuers.weblink.clockOffset).toBe(-30_000)
  expect(apis.general.latency).toEqual({ min: 5, max: 60_000 })
  expect(apis.weblink.ratePolicy).toEqual({ limits: [{ quota: 3, window: 60_000 }] })
  sandbox.control.setRatePolicy('weblink', null)
  sandbox.control.restoreIssuer()
  await post('/v1/fail-issuer', { issuer: 'general', status: 400, body: { max: '20s' } })
  expect((await requestToken(sandbox, 'general')).json).toEqual({ max: '20s' })
})

test('a result comes back', async () => {
  const { json } = await post('/v1/rotate-secret', { issuer: 'general', overlap: true })
  expect(json).toEqual(sandbox.credentials.general)
  await post('/v1/drop-old-secrets', { issuer: 'general' })
})

test('everything that is wrong is said at once, as problem details', async () => {
  const { status, type, json } = await post('/v1/fail-api', { api: 'other', status: 99 })
  expect([status, type]).toEqual([400, 'application/problem+json'])
  expect(json).toMatchObject({
    title: 'Bad Request',
    status: 400,
    errors: [
      { detail: "\"api\" must be 'general' or 'weblink', not 'other'" },
      { detail: '"status" must be a whole number from 200 to 599, not 99' },
    ],
  })
})

test.each<[string, string, number, string]>([
  ['/v1/revoke-tokens', '{', 400, 'The body must be a JSON object of named parameters'],
  ['/v1/revoke-tokens', '[]', 400, 'The body must be a JSON object of named parameters'],
  ['/v1/revoke-tokens', '{"realm":"general"}', 400, '"realm" is not a parameter of revokeTokens'],
  [
    '/v1/kill-issuer',
    '{"issuer":"general","foo":1}',
    400,
    '"foo" is not a parameter of killIssuer; its parameters: issuer, midBody, for, times, percent',
  ],
  ['/v1/stop-scenario', '{"foo":1}', 400, '"foo" is not a parameter of stopScenario; it has no parameters'],
  ['/v1/revokeTokens', '{}', 404, 'Unknown POST /v1/revokeTokens'],
])('POST %s %s is refused', async (path, body, status, detail) => {
  const received = await ask(path, { method: 'POST', body })
  expect(received.status).toBe(status)
  expect(received.json['detail']).toContain(detail)
})

test.each([
  ['POST', '/v1/counts', 'GET', 'GET, HEAD'],
  ['POST', '/v1/events', 'GET', 'GET, HEAD'],
  ['PUT', '/openapi.json', 'GET', 'GET, HEAD'],
  ['GET', '/v1/revoke-tokens', 'POST', 'POST'],
])('%s %s is refused, and the method to use is said', async (method, path, right, allow) => {
  const headers = { authorization: `Bearer ${sandbox.controlToken}` }
  const response = await fetch(sandbox.controlUrl + path, { method, headers })
  expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
  expect(await response.json()).toMatchObject({ detail: `Use ${right} ${path}, not ${method}` })
})

test.each(['make-assertion', 'project-assertion', 'rotate-cluster-keys'])(
  '%s of an issuer without a cluster is refused, also as a step of a scenario',
  async (path) => {
    const detail = 'the issuer has no cluster: set its option workloadIdentity'
    const { status, json } = await post(`/v1/${path}`, { issuer: 'general' })
    expect([status, json['detail']]).toEqual([400, detail])
    const name = Object.keys(definitions).find((each) => pathOf(each as never) === `/v1/${path}`)
    const { json: scenario } = await post('/v1/play-scenario', {
      steps: [{ after: 3_600_000, do: name, issuer: 'general' }],
    })
    expect(scenario).toMatchObject({ status: 400, detail: `steps[0]: ${detail}` })
  },
)

test('any other error is a bug of the sandbox', () => {
  expect(problemDetails(new TypeError('x is not a function')).status).toBe(500)
})

test('an unknown parameter is named beside everything else that is wrong', async () => {
  const { json } = await post('/v1/kill-issuer', { issuer: 'genral', for: 'x', foo: 1 })
  expect(json['errors']).toEqual([
    {
      detail: '"foo" is not a parameter of killIssuer; its parameters: issuer, midBody, for, times, percent',
    },
    { detail: "\"issuer\" must be 'general' or 'weblink', not 'genral'" },
    {
      detail:
        '"for" must be a number from 0 to 2147483647, or a time such as 500ms, 20s, 5m or 1h, not \'x\'',
    },
  ])
  const { json: filter } = await ask('/v1/journal?foo=1')
  expect(filter['detail']).toMatch(/^"foo" is not a parameter of journal; its parameters: target, decision,/)
})

test.each<[string, Record<string, string>, string]>([
  ['?after=x', {}, '"after" must be a whole number'],
  ['?after=-1', {}, '"after" must be a whole number'],
  ['?foo=1', {}, 'no keys except after, Last-Event-ID, not { foo: 1 }'],
  ['', { 'last-event-id': 'abc' }, '"Last-Event-ID" must be a whole number'],
])('events with %s and %j are refused', async (query, headers, detail) => {
  const { status, type, json } = await ask(`/v1/events${query}`, { headers })
  expect([status, type]).toEqual([400, 'application/problem+json'])
  expect(json['detail']).toContain(detail)
})

test('OpenAPI describes every function, with what its parameters allow', async () => {
  const response = await fetch(`${sandbox.controlUrl}/openapi.json`)
  const { openapi, paths } = (await response.json()) as { openapi: string; paths: Record<string, object> }
  expect(openapi).toBe('3.1.0')
  for (const name of Object.keys(definitions)) expect(paths).toHaveProperty([pathOf(name as never)])
  expect(paths['/v1/set-token-lifetime']).toMatchObject({
    post: {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              properties: {
                lifetime: {
                  anyOf: [{ type: 'number', minimum: 1, maximum: 31_536_000_000 }, { type: 'string' }],
                },
                issuer: { enum: ['general', 'weblink'] },
              },
              required: ['lifetime'],
              additionalProperties: false,
            },
          },
        },
      },
    },
  })
})

test('the journal is filtered by a query', async () => {
  const token = await tokenOf(sandbox, 'general')
  await callApi(sandbox, 'general', { token })
  await callApi(sandbox, 'weblink', { token })
  const { json } = await ask('/v1/journal?target=weblink-api&status=401')
  expect(json).toMatchObject([
    {
      token: expect.stringMatching(/^general-\d+$/),
      reason: 'token from the general issuer at the weblink API',
    },
  ])
})

test('events bring what is in the journal after an id, what comes, and the state', async () => {
  await callApi(sandbox, 'general', {})
  const headers = { authorization: `Bearer ${sandbox.controlToken}`, 'last-event-id': '0' }
  const response = await fetch(`${sandbox.controlUrl}/v1/events`, { headers })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const readUntil = async (part: RegExp): Promise<void> => {
    while (!part.test(text)) text += (await reader.read()).value
  }
  await readUntil(/event: state\ndata: \{.*\}\n\n/)
  expect(text).toMatch(/^event: journal\nid: \d+\ndata: \{"id":\d+,.*"reason":"no bearer token"\}\n\n/)
  await callApi(sandbox, 'weblink', {})
  await readUntil(/"target":"weblink-api"/)
  await reader.cancel()
})

test('the certificate of the authority is there without a token', async () => {
  expect(await (await fetch(`${sandbox.controlUrl}/ca.pem`)).text()).toBe(sandbox.ca)
})

test('nothing is cached or taken for another type', async () => {
  for (const path of ['/v1/counts', '/openapi.json', '/nothing']) {
    const { headers } = await fetch(sandbox.controlUrl + path)
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      'no-store',
      'nosniff',
    ])
  }
})
