import { expect, vi } from 'vitest'

import { refusalIn } from '../driver.ts'
import { followRedirectsEverywhere, redirectStatuses } from '../redirect-everywhere.ts'
import type { Scenario, ScenarioGroup } from '../scenario.ts'
import { oneByOne, patiently, type Stage } from '../stage.ts'

export const redirects: ScenarioGroup = {
  subject: 'A redirect',
  scenarios: needRedirects([
    {
      name: 'within the API is followed with the token',
      async run(stage) {
        const { client } = stage.open()
        const { status, text } = await client.send({ url: redirectTo('records?page=2&size=10') })
        expect([status, JSON.parse(text).page]).toEqual([200, 2])
      },
    },
    {
      name: 'within the API is followed with the scheme of the API, and one out of it without',
      async run(stage) {
        const elsewhere = await stage.scripted()
        const api = await stage.scripted(({ url }) => {
          const location = { '/moved': '/there', '/there': elsewhere.url }[url]
          return location === undefined ? { status: 200 } : { status: 307, headers: { location } }
        })
        const { client } = stage.open({ apis: [{ baseUrl: api.url, scheme: 'OAuth' }] })
        await client.send({ url: `${api.url}moved` })
        const sent = [...api.requests, ...elsewhere.requests].map(({ url, headers }) => [
          url,
          headers.authorization?.split(' ')[0],
        ])
        expect(sent).toEqual([
          ['/moved', 'OAuth'],
          ['/there', 'OAuth'],
          ['/', undefined],
        ])
      },
    },
    {
      name: 'to a hop that refuses a revoked token is followed after one renewal',
      async run(stage) {
        const { tokens, client } = stage.open()
        await stage.revoke(tokens)
        expect(await client.status({ url: redirectTo('records') })).toBe(200)
        expect(stage.tokenRequests()).toBe(1)
      },
    },
    {
      name: 'after a 401 does not let the call be sent once more for another one',
      async run(stage) {
        const api = await stage.scripted(({ url }, number) => {
          if (number === 1 || url === '/there') return { status: 401 }
          return { status: 302, headers: { location: '/there' } }
        })
        const { client } = stage.open({ apis: [{ baseUrl: api.url }] })
        expect(await client.status({ url: `${api.url}moved` })).toBe(401)
        expect(api.requests.map(({ url }) => url)).toEqual(['/moved', '/moved', '/there'])
      },
    },
    {
      name: 'within the API goes ahead of waiting calls',
      async run(stage) {
        const api = await stage.scripted(async ({ url }, number) => {
          // first two other calls wait, then one of them and the redirect, if that waits at all
          if (number <= 2 && url !== '/there') await vi.waitFor(() => expect(queued()).toBe(2), patiently)
          return url === '/moved' ? { status: 302, headers: { location: '/there' } } : { status: 200 }
        })
        const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy: oneByOne }] })
        const queued = (): number | undefined => tokens.status().apis.at(-1)?.queued
        await tokens.getToken('weblink')
        const moved = client.status({ url: `${api.url}moved` })
        await vi.waitFor(() => expect(api.requests.length).toBe(1), patiently)
        const others = [1, 2].map((page) => client.status({ url: `${api.url}${page}` }))
        expect(await Promise.all([moved, ...others])).toEqual([200, 200, 200])
        expect(api.requests.at(-1)?.url).toBe('/2')
      },
    },
    {
      name: 'within the API is still followed while the manager is closing',
      async run(stage) {
        let closing: Promise<void> | undefined
        let isClosed = false
        const api = await stage.scripted(({ url }) => {
          if (url === '/there') return { status: isClosed ? 500 : 200 }
          closing = tokens.close().then(() => void (isClosed = true))
          return { status: 303, headers: { location: '/there' } }
        })
        const { tokens, client } = stage.open({ apis: [{ baseUrl: api.url }] })
        expect(await client.status({ url: `${api.url}moved`, method: 'POST' })).toBe(200)
        await closing
        expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET'])
      },
    },
    {
      name: 'within the API takes a unit of the rate policy for each hop',
      needs: {
        feature: 'redirectUnits',
        instead: async (stage) => expect(await afterRedirect(stage)).toBe(200),
      },
      run: async (stage) => expect(await afterRedirect(stage)).toBe('QUEUE_TIMEOUT'),
    },
    {
      name: 'to another port carries no token',
      async run(stage) {
        const elsewhere = await stage.scripted()
        const { client } = stage.open()
        expect(await client.status({ url: redirectTo(elsewhere.url) })).toBe(200)
        expect(elsewhere.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
      },
    },
    noToken('to another host name carries no token', (stage) => {
      const url = outside(stage)
      url.hostname = 'localhost'
      return url
    }),
    noToken('to a path outside the API carries no token', outside),
    {
      name: "to another API on the same origin does not carry the first API's token",
      async run(stage) {
        const url = outside(stage)
        const other = { baseUrl: new URL('.', url).href, issuer: 'general' as const }
        const { client } = stage.open({ apis: [other] })
        const { text } = await client.send({ url: redirectTo(url.href) })
        expect(JSON.parse(text)).toEqual({ authorization: false })
      },
    },
    {
      name: 'to another API is sent without a token, and a 401 goes straight to the caller, without a token request',
      async run(stage) {
        const { client } = stage.open()
        expect(await client.status({ url: redirectTo(`${stage.sandbox.apiUrl}records`) })).toBe(401)
        const { apis, issuers } = stage.sandbox.control.counts()
        expect([apis.weblink.calls, apis.general.calls]).toEqual([1, 1])
        expect([issuers.weblink.requests, issuers.general.requests]).toEqual([1, 0])
      },
    },
    {
      name: 'out of the API and back carries no token on the way back, and its 401 costs no token request',
      async run(stage) {
        const back = { status: 302, headers: { location: `${stage.sandbox.weblinkUrl}records` } }
        const elsewhere = await stage.scripted(() => back)
        const { client } = stage.open()
        expect(await client.status({ url: redirectTo(elsewhere.url) })).toBe(401)
        expect(elsewhere.requests.length).toBe(1)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([2, 1])
      },
    },
    {
      name: 'with any status keeps the token within its API, and never passes it to a look-alike URL',
      async run(stage) {
        for (const status of redirectStatuses) {
          const { astray, ...led } = await followRedirectsEverywhere(status, (tokens) => {
            const client = stage.client(tokens)
            return (url) => client.send({ url })
          })
          expect(astray).toEqual([])
          // a client has to follow five of them
          const followed = [301, 302, 303, 307, 308].includes(status)
          expect(led.kept).toBeGreaterThanOrEqual(followed ? 6 : 0)
          expect(led.outside).toBeGreaterThanOrEqual(followed ? 15 : 0)
        }
      },
    },
  ]),
}

/** A client that follows none hands its caller the redirect itself. */
function needRedirects(scenarios: readonly Scenario[]): Scenario[] {
  return scenarios.map((scenario) => ({
    ...scenario,
    needs: [
      {
        feature: 'redirects' as const,
        async instead(stage: Stage) {
          const { client } = stage.open()
          expect(await client.status({ url: redirectTo('records') })).toBe(302)
          expect(stage.calls()).toBe(1)
        },
      },
      scenario.needs ?? [],
    ].flat(),
  }))
}

function noToken(name: string, target: (stage: Stage) => URL): Scenario {
  return {
    name,
    async run(stage) {
      const { client } = stage.open()
      const { text } = await client.send({ url: redirectTo(target(stage).href) })
      expect(JSON.parse(text)).toEqual({ authorization: false })
    },
  }
}

function redirectTo(url: string): string {
  return `redirect?to=${encodeURIComponent(url)}`
}

function outside({ sandbox }: Stage): URL {
  return new URL('/outside/page', sandbox.weblinkUrl)
}

/** Returns what becomes of a call after one that was redirected, where the rate policy has two units. */
async function afterRedirect(stage: Stage): Promise<unknown> {
  const api = await stage.scripted(({ url }) =>
    url === '/moved' ? { status: 302, headers: { location: '/there' } } : { status: 200 },
  )
  const ratePolicy = { limits: [{ quota: 2, window: 3_600_000 }], maxWait: 1_000 }
  const { client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy }] })
  expect(await client.status({ url: `${api.url}moved` })).toBe(200)
  return client.status({ url: api.url }).catch((error: unknown) => refusalIn(error)?.code)
}
