import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { expect, vi } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'
import { rejection, type ScriptedResponse } from '../scripted-api.ts'
import { oneByOne, patiently } from '../stage.ts'

const inFlight = 50

/** Calls `listener` with the path of each request to an origin as it is made, by `node:http` or undici; returns the end of it. */
function onRequest(origin: string, listener: (path: string) => void): () => void {
  const listeners: [string, (message: unknown) => void][] = [
    [
      'undici:request:create',
      (message) => {
        const { request } = message as { request: { origin?: unknown; path: string } }
        if (String(request.origin) === origin) listener(request.path)
      },
    ],
    [
      'http.client.request.start',
      (message) => {
        const { request } = message as {
          request: { host: string; path: string; getHeader(name: string): unknown }
        }
        if (`http://${String(request.getHeader('host'))}` === origin) listener(request.path)
      },
    ],
  ]
  for (const [name, heard] of listeners) subscribe(name, heard)
  return () => listeners.forEach(([name, heard]) => unsubscribe(name, heard))
}

export const rejections: ScenarioGroup = {
  subject: 'A 401',
  scenarios: [
    {
      name: 'costs one renewal and one retry',
      async run(stage) {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        expect((await client.send({ url: 'records' })).status).toBe(200)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
    {
      name: 'reaches the caller at once if the retry with a new token gets one too',
      async run(stage) {
        const { client } = stage.open()
        expect(await client.status({ url: 'status/401' })).toBe(401)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 2])
      },
    },
    {
      name: 'on each of 50 calls in flight costs 1 renewal, and loses no calls',
      async run(stage) {
        const allThere = Promise.withResolvers<ScriptedResponse>()
        const api = await stage.scripted((_, number) => {
          if (number === inFlight) allThere.resolve(rejection)
          return number <= inFlight ? allThere.promise : { status: 200 }
        })
        const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url }] })
        await stage.revoke(tokens)
        const calls = Array.from({ length: inFlight }, (_, id) => client.status({ url: `${api.url}${id}` }))
        expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
        expect([api.requests.length, stage.tokenRequests()]).toEqual([2 * inFlight, 1])
      },
    },
    {
      name: 'leads to a retry in the async context of the call, as does each wait, so that spans belong to their own trace',
      async run(stage) {
        const known = new Set<string>()
        const api = await stage.scripted(({ url }) => {
          if (known.has(url)) return { status: 200 }
          known.add(url)
          return rejection
        })
        const context = new AsyncLocalStorage<string>()
        const seen: unknown[][] = []
        const stop = onRequest(new URL(api.url).origin, (path) => seen.push([path, context.getStore()]))
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        const send = (path: string): Promise<number> =>
          context.run(path, () => client.status({ url: new URL(path, api.url).href }))
        // the second round finds the connections that the first one has opened
        for (const paths of [
          ['/a', '/b', '/c'],
          ['/d', '/e', '/f'],
        ])
          expect(await Promise.all(paths.map(send))).toEqual([200, 200, 200])
        stop()
        expect(seen.length).toBeGreaterThan(0)
        expect(seen.filter(([path, store]) => path !== store)).toEqual([])
      },
    },
    {
      name: 'that arrives after its token was renewed leads to a retry with the newer token, without a token request',
      async run(stage) {
        const late = Promise.withResolvers<ScriptedResponse>()
        const api = await stage.scripted(({ url }, number) => {
          if (number > 2) return { status: 200 }
          return url === '/late' ? late.promise : rejection
        })
        const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url }] })
        await stage.revoke(tokens)
        const straggler = client.status({ url: `${api.url}late` })
        await vi.waitFor(() => expect(api.requests.length).toBe(1), patiently)
        expect(await client.status({ url: `${api.url}soon` })).toBe(200)
        expect(stage.tokenRequests()).toBe(1)
        late.resolve(rejection)
        expect(await straggler).toBe(200)
        expect([api.requests.length, stage.tokenRequests()]).toEqual([4, 1])
        const [first, , newer, last] = api.requests.map(({ headers }) => headers.authorization)
        expect(last).toBe(newer)
        expect(last).not.toBe(first)
      },
    },
    {
      name: 'that three clients with the same manager get at the same time costs 1 renewal',
      async run(stage) {
        const { tokens, client } = stage.open()
        const clients = [client, stage.client(tokens), stage.client(tokens)]
        await stage.revoke(tokens)
        const calls = clients.flatMap((one) =>
          [1, 2, 3].map((page) => one.status({ url: `records?page=${page}` })),
        )
        expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
        expect(stage.tokenRequests()).toBe(1)
      },
    },
    {
      name: 'between the pages of a list goes unnoticed by the caller',
      async run(stage) {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        const pages: number[] = []
        for (let url: string | null = 'records?page=1&size=10'; url !== null;) {
          const page = JSON.parse((await client.send({ url })).text) as { page: number; next: string | null }
          pages.push(page.page)
          url = page.next
          if (page.page === 2) stage.sandbox.control.revokeTokens('weblink')
        }
        expect(pages).toEqual([1, 2, 3])
      },
    },
    {
      name: 'on every other call loses no calls, and costs only a handful of token requests',
      async run(stage) {
        const api = await stage.scripted((_, number) => (number % 2 === 0 ? rejection : { status: 200 }))
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        const statuses = new Set<number>()
        for (let page = 0; page < 100; page += 1)
          statuses.add(await client.status({ url: `${api.url}${page}` }))
        expect(statuses).toEqual(new Set([200]))
        expect(stage.tokenRequests()).toBeLessThanOrEqual(6)
      },
    },
    {
      name: 'with a 1 MB body is discarded, and the call continues',
      async run(stage) {
        const long = { ...rejection, body: 'x'.repeat(1_000_000) }
        const api = await stage.scripted((_, number) =>
          number === 1 ? long : { status: 200, body: 'short' },
        )
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        expect((await client.send({ url: api.url })).text).toBe('short')
        await vi.waitFor(() => expect(api.unfinished()).toBe(0), patiently)
        expect(api.requests.length).toBe(2)
      },
    },
    {
      name: "on the call that holds its API's only slot does not block the calls behind it forever",
      async run(stage) {
        const api = await stage.scripted((_, number) => (number === 1 ? rejection : { status: 200 }))
        const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy: oneByOne }] })
        await stage.revoke(tokens)
        const calls = [1, 2, 3].map((page) => client.status({ url: `${api.url}${page}` }))
        expect(await Promise.all(calls)).toEqual([200, 200, 200])
        expect(api.requests.map(({ url }) => url).toSorted()).toEqual(['/1', '/1', '/2', '/3'])
        expect(stage.tokenRequests()).toBe(1)
      },
    },
  ],
}
