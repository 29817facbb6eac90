import { describe, expect, test, vi } from 'vitest'

import type { Api, Pass } from '../send/api.ts'
import { isRedirect, nextHop, type Hop } from './redirects.ts'
import { sendWithinApi, type OutgoingCall } from './send-within-api.ts'

const fields = {
  authorization: 'Bearer mine',
  cookie: 'a=b',
  'content-type': 'text/plain',
  'x-request-id': '7',
}

function callTo(url: string, method = 'GET', hasBody = false): Hop {
  return { url: new URL(url), method, headers: new Headers(fields), init: {}, hasBody, replayable: true }
}

function redirect(location: string, status = 302): Response {
  return new Response('moved', { status, headers: { location } })
}

/** Returns the request that one redirect of a call leads to. */
function hopOf(call: Hop, location: string, status = 302): Hop {
  return nextHop(call, redirect(location, status))
}

const pass = { follow: async () => pass, release() {} } as unknown as Pass
const api = {
  async send(attempt: Parameters<Api['send']>[0]) {
    const { result, follow: onwards } = await attempt('Bearer ours', () => 'final')
    return onwards === undefined ? result : onwards(pass)
  },
} as unknown as Api

/** Sends a call whose requests are answered with these responses, one after the other. */
function follow(call: Hop, responses: (url: string) => Response, inside = true): Promise<Response> {
  const outgoing: OutgoingCall = {
    ...call,
    followsRedirects: true,
    next: () => [call.url.href, {}],
    body: () => null,
    failed: () => {},
  }
  return sendWithinApi(outgoing, {
    api,
    route: () => (inside ? api : undefined),
    fetch: async (input) => responses(input as string),
  })
}

test('a response that is not a redirect is the response', async () => {
  const call = callTo('https://a.example/')
  for (const answer of [
    new Response('here'),
    new Response(null, { status: 302 }),
    new Response(null, { status: 304, headers: { location: '/' } }),
  ]) {
    expect(isRedirect(answer)).toBe(false)
    expect(await follow(call, () => answer)).toBe(answer)
    expect(answer.redirected).toBe(false)
  }
})

test('the last answer of a chain says that it was redirected, and the others are read', async () => {
  const first = redirect('/1')
  const second = redirect('2')
  const seen: string[] = []
  const answers = [first, second, new Response('there')]
  const answer = await follow(callTo('https://a.example/x/y'), (url) => {
    seen.push(url)
    return answers.shift()!
  })
  expect(seen).toEqual(['https://a.example/x/y', 'https://a.example/1', 'https://a.example/2'])
  expect([answer.redirected, await answer.text()]).toEqual([true, 'there'])
  expect([first.bodyUsed, second.bodyUsed]).toEqual([true, true])
})

describe('the fields of a hop', () => {
  test('are those of the call on the same origin', async () => {
    const { headers } = hopOf(callTo('https://a.example/'), '/b')
    expect(Object.fromEntries(headers)).toEqual(fields)
  })

  test.each(['https://b.example/', 'https://a.example:8443/', 'http://a.example/'])(
    'are without those of the origin at %s',
    async (location) => {
      const { headers } = hopOf(callTo('https://a.example/'), location)
      expect(Object.keys(Object.fromEntries(headers))).toEqual(['content-type', 'x-request-id'])
    },
  )
})

describe('a method', () => {
  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [302, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ])('%i makes of %s a %s', async (status, before, after) => {
    const hop = hopOf(callTo('https://a.example/', before, before !== 'HEAD'), '/b', status)
    expect(hop.method).toBe(after)
    expect(hop.hasBody).toBe(after === before && before !== 'HEAD')
    expect(hop.headers.has('content-type')).toBe(after === before)
  })
})

describe('what cannot be followed is a TypeError', () => {
  test.each(['ftp://a.example/', 'https://user:pass@a.example/', 'https://[', 'data:,x'])(
    '%s',
    (location) => {
      expect(() => hopOf(callTo('https://a.example/'), location)).toThrow(new TypeError('fetch failed'))
    },
  )

  test('a body that can be read once', async () => {
    const call = { ...callTo('https://a.example/', 'POST', true), replayable: false }
    for (const status of [301, 302, 307, 308]) expect(() => hopOf(call, '/b', status)).toThrow(TypeError)
    expect(hopOf(call, '/b', 303)).toMatchObject({ method: 'GET', hasBody: false })
  })

  test('the 21st redirect', async () => {
    const send = vi.fn<() => Response>(() => redirect('/on'))
    await expect(follow(callTo('https://a.example/'), send)).rejects.toThrow(TypeError)
    expect(send).toHaveBeenCalledTimes(21)
  })
})

test('a location in UTF-8 is read as such', async () => {
  const asField = Buffer.from('/ö').toString('latin1')
  expect(hopOf(callTo('https://a.example/'), asField).url.pathname).toBe('/%C3%B6')
})
