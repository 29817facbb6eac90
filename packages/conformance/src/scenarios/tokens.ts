import { createTokenManager, type TokenlaneEvent, type TokenManager } from '@tokenlane/core'
import { expect } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'
import { rejection, type SeenRequest } from '../scripted-api.ts'
import { printed } from '../printed.ts'
import { oneByOne, type Stage } from '../stage.ts'
import type { TestClient } from '../test-client.ts'

export const tokens: ScenarioGroup = {
  subject: 'The token',
  scenarios: [
    {
      name: 'for each API comes from its own issuer, in one token request',
      async run(stage) {
        const { client } = stage.open()
        for (const url of ['records', `${stage.sandbox.apiUrl}records`, 'records?page=2'])
          expect((await client.send({ url })).status).toBe(200)
        expect(stage.sandbox.control.counts().issuers).toMatchObject({
          general: { requests: 1 },
          weblink: { requests: 1 },
        })
      },
    },
    {
      name: 'is requested once for 50 simultaneous calls without a token',
      async run(stage) {
        const { client } = stage.open()
        const calls = Array.from({ length: 50 }, () => client.status({ url: 'records?size=1' }))
        expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
        expect(stage.tokenRequests()).toBe(1)
      },
    },
    {
      name: 'is the only addition to a call: method, query, headers and body stay as they were',
      async run(stage) {
        const api = await stage.scripted()
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        await sendAnything(stage.bare(), api.url)
        await sendAnything(client, api.url)
        const [bare, managed] = api.requests.map(wire)
        expect(bare!.authorization).toBeUndefined()
        expect(managed!.authorization).toMatch(/^Bearer ./)
        expect(managed!.rest).toEqual(bare!.rest)
      },
    },
    {
      name: 'is sent with the scheme that its API asks for, also after a 401',
      async run(stage) {
        const api = await stage.scripted((_, number) => (number === 1 ? rejection : { status: 200 }))
        const { client } = stage.open({ apis: [{ baseUrl: api.url, scheme: 'Zoho-oauthtoken' }] })
        expect(await client.status({ url: api.url })).toBe(200)
        const schemes = api.requests.map(({ headers }) => headers.authorization?.split(' ')[0])
        expect(schemes).toEqual(['Zoho-oauthtoken', 'Zoho-oauthtoken'])
      },
    },
    {
      name: 'that `invalidate` has dropped is sent no more: the call that it went with goes again with a new one',
      async run(stage) {
        const opened: { tokens?: TokenManager } = {}
        const api = await stage.scripted((_, number) => {
          if (number > 1) return { status: 200 }
          opened.tokens?.invalidate('weblink')
          return rejection
        })
        const { client } = Object.assign(opened, stage.open({ apis: [{ baseUrl: api.url }] }))
        expect([await client.status({ url: api.url }), await client.status({ url: api.url })]).toEqual([
          200, 200,
        ])
        const [dropped, ...later] = api.requests.map(({ headers }) => headers.authorization)
        expect(later).toHaveLength(2)
        expect(new Set(later).size).toBe(1)
        expect(later).not.toContain(dropped)
        expect(stage.tokenRequests()).toBe(2)
      },
    },
    {
      name: 'is not sent to a URL outside all APIs: the client sends its usual request, and no token is requested',
      async run(stage) {
        const elsewhere = await stage.scripted()
        const { client } = stage.open()
        await sendAnything(stage.bare(), elsewhere.url)
        await sendAnything(client, elsewhere.url)
        const [bare, managed] = elsewhere.requests
        expect(managed).toEqual(bare)
        expect(managed!.headers.authorization).toBeUndefined()
        expect(stage.tokenRequests()).toBe(0)
      },
    },
    {
      name: "does not replace the caller's own Authorization header: the call requests no token, skips the queue and is not retried",
      async run(stage) {
        const { client } = stage.open({ ratePolicy: oneByOne })
        const headers = { authorization: 'Bearer mine' }
        const held = await stage.hold(client)
        stage.sandbox.control.resetCounts()
        expect(await client.status({ url: 'records', headers })).toBe(401)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([1, 0])
        await held.release()

        const api = await stage.scripted()
        const other = stage.open({ apis: [{ baseUrl: api.url }] }).client
        await other.send({ url: api.url, headers })
        expect(api.requests[0]!.headers.authorization).toBe('Bearer mine')
      },
    },
    {
      // nothing else shows an old default of the client, or a hook that was left behind
      name: "is said to be missing, once, where the caller's own Authorization header is answered 401",
      async run(stage) {
        const events: TokenlaneEvent[] = []
        const { client } = stage.open({ observe: (event) => events.push(event) })
        for (let call = 0; call < 2; call += 1)
          expect(await client.status({ url: 'records', headers: { authorization: 'Bearer old' } })).toBe(401)
        expect(events).toEqual([
          { type: 'authorization.kept', api: expect.stringMatching(/^https:/) as string },
        ])

        const api = await stage.scripted()
        const accepted = stage.open({
          apis: [{ baseUrl: api.url }],
          observe: (event) => events.push(event),
        }).client
        await accepted.send({ url: api.url, headers: { authorization: 'Bearer mine' } })
        expect(events).toHaveLength(1)
      },
    },
    {
      name: 'is sent with a call whose end says its method and its path, without the query',
      async run(stage) {
        const ends: unknown[] = []
        const { client } = stage.open({
          observe: (event) =>
            void (event.type === 'call.finished' && ends.push([event.client, event.method, event.path])),
        })
        await client.send({ url: 'records?page=2' })
        await client.status({ url: 'records', method: 'DELETE' })
        const path = expect.stringMatching(/\/records$/) as string
        expect(ends).toEqual([
          [expect.any(String), 'GET', path],
          [expect.any(String), 'DELETE', path],
        ])
      },
    },
    {
      // axios/axios#3183
      name: 'takes the place of an empty Authorization header',
      async run(stage) {
        const api = await stage.scripted()
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        for (const Authorization of ['', ' ']) await client.send({ url: api.url, headers: { Authorization } })
        const sent = api.requests.map(({ rawHeaders }) =>
          rawHeaders.filter((_, at) => rawHeaders[at - 1]?.toLowerCase() === 'authorization' && at % 2 === 1),
        )
        const bearer = [expect.stringMatching(/^Bearer \S+$/)]
        expect(sent).toEqual([bearer, bearer])
      },
    },
    {
      name: 'is not added to token requests sent through a managed client, so they cannot deadlock',
      async run(stage) {
        const server = await stage.scripted(({ url }) => ({
          status: 200,
          headers: { 'content-type': 'application/json' },
          body:
            url === '/token'
              ? JSON.stringify({ access_token: 'a', token_type: 'Bearer', expires_in: 60 })
              : '{}',
        }))
        const client = clientOfItsIssuer(stage, { issuer: server.url, baseUrl: `${server.url}api/` })
        expect(await client.status({ url: `${server.url}api/` })).toBe(200)
        expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
          ['/token', undefined],
          ['/api/', 'Bearer a'],
        ])
      },
    },
    {
      name: 'is requested without a token even if the token endpoint lies within the API, so the request cannot deadlock',
      async run(stage) {
        const body = JSON.stringify({ access_token: 'own', token_type: 'Bearer', expires_in: 3600 })
        const headers = { 'content-type': 'application/json' }
        const server = await stage.scripted(() => ({ status: 200, headers, body }))
        const client = clientOfItsIssuer(stage, { issuer: server.url, baseUrl: server.url })
        expect(await client.status({ url: server.url })).toBe(200)
        const sent = server.requests.map((request) => [request.url, request.headers.authorization])
        expect(sent).toEqual([
          ['/token', undefined],
          ['/', 'Bearer own'],
        ])
      },
    },
    {
      name: 'never appears in anything given to the caller or to a request hook, before or after the call',
      async run(stage) {
        const { tokens: manager, client } = stage.open()
        const given: unknown[] = []
        const shown: string[] = []
        const show = (what: unknown): void => {
          given.push(what)
          shown.push(printed(what))
        }
        const request = { url: 'records', headers: { 'x-some-field': 'some value' }, show }
        const before = (await manager.getToken('weblink')).value
        expect(await client.status(request)).toBe(200)
        await stage.revoke(manager)
        expect(await client.status(request)).toBe(200)
        const after = (await manager.getToken('weblink')).value
        expect(stage.tokenRequests()).toBe(1)

        expect(shown.join()).toContain('x-some-field')
        shown.push(...given.map(printed))
        for (const token of [before, after]) expect(shown.filter((text) => text.includes(token))).toEqual([])
      },
    },
    {
      name: 'never appears in a response or an error, printed or as JSON, and neither does the secret',
      needs: {
        feature: 'cleanResponses',
        async instead(stage) {
          // responses are only searched as JSON
          await collectOutcomes(stage.open().client)
          stage.mustShowNoSecret()
        },
      },
      async run(stage) {
        await collectOutcomes(stage.open().client)
        stage.mustShowNoSecret()
      },
    },
  ],
}

function sendAnything(client: TestClient, url: string): Promise<unknown> {
  return client.send({
    url: `${url}a%20b?c=d%2Fe&c=f`,
    method: 'PUT',
    headers: { 'x-some-field': 'some value', accept: 'text/plain' },
    body: { kind: 'JSON', value: { g: ['h', 1] } },
  })
}

/** A request without its `Authorization` field, and that field. */
function wire({ method, url, rawHeaders, headers, body }: SeenRequest): {
  authorization: string | undefined
  rest: unknown
} {
  const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'authorization')
  const fields = at === -1 ? rawHeaders : rawHeaders.toSpliced(at, 2)
  return { authorization: headers.authorization, rest: { method, url, fields, body: body.toString() } }
}

/** A client whose manager sends its token requests with that very client. */
function clientOfItsIssuer(
  stage: Stage,
  { issuer, baseUrl }: { issuer: string; baseUrl: string },
): TestClient {
  const managed: { client?: TestClient } = {}
  const manager = createTokenManager({
    issuers: {
      own: {
        tokenEndpoint: `${issuer}token`,
        credentials: { clientId: 'b', clientSecret: 'c' },
        allowInsecureLoopback: true,
      },
    },
    apis: [{ baseUrl, issuer: 'own' }],
    fetch: (input, init) => fetchBy(managed.client!, new Request(input, init)),
  })
  managed.client = stage.client(stage.keep(manager))
  return managed.client
}

/** Returns what a `fetch` does that is built on the client that the manager serves. */
async function fetchBy(client: TestClient, request: Request): Promise<Response> {
  const { url, method, headers, signal } = request
  const value = await request.text()
  const fields = Object.fromEntries(headers)
  const response = await client.send({
    url,
    method,
    headers: fields,
    signal,
    body: { kind: 'string', value },
  })
  return new Response(response.text, response)
}

async function collectOutcomes(client: TestClient): Promise<void> {
  await client.send({ url: 'records?size=2' })
  await client.send({ url: 'echo', method: 'POST', body: { kind: 'JSON', value: { a: 1 } } })
  for (const status of [401, 404, 503]) await client.status({ url: `status/${status}` })
  const { stream } = await client.send({ url: 'records?size=2', stream: true })
  for await (const chunk of stream!) expect(chunk.length).toBeGreaterThan(0)
}
