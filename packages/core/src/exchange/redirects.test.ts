import { describe, expect, test, vi } from 'vitest'

import { followRedirects, type Hop } from './redirects.ts'

const fields = {
  authorization: 'Bearer mine',
  cookie: 'a=b',
  'content-type': 'text/plain',
  'x-request-id': '7',
}

function callTo(url: string, method = 'GET', hasBody = false): Hop & { replayable: boolean } {
  return { url: new URL(url), method, headers: new Headers(fields), hasBody, replayable: true }
}

function redirect(location: string, status = 302): Response {
  return new Response('moved', { status, headers: { location } })
}

/** Follows one redirect of a call, and tells the hop. */
async function hopOf(call: Hop, location: string, status = 302): Promise<Hop> {
  const send = vi.fn<(hop: Hop) => Promise<Response>>(async () => new Response('there'))
  await followRedirects(redirect(location, status), { ...call, replayable: true }, send)
  expect(send).toHaveBeenCalledOnce()
  return send.mock.lastCall![0]
}

const never = async (): Promise<Response> => expect.fail('nothing is to be sent')

test('an answer that is no redirect is the answer', async () => {
  const call = callTo('https://a.example/')
  for (const answer of [
    new Response('here'),
    new Response(null, { status: 302 }),
    new Response(null, { status: 304, headers: { location: '/' } }),
  ]) {
    expect(await followRedirects(answer, call, never)).toBe(answer)
    expect(answer.redirected).toBe(false)
  }
})

test('the last answer of a chain says that it was redirected, and the others are read', async () => {
  const first = redirect('/1')
  const second = redirect('2')
  const seen: string[] = []
  const answer = await followRedirects(first, callTo('https://a.example/x/y'), async ({ url }) => {
    seen.push(url.href)
    return seen.length === 1 ? second : new Response('there')
  })
  expect(seen).toEqual(['https://a.example/1', 'https://a.example/2'])
  expect([answer.redirected, await answer.text()]).toEqual([true, 'there'])
  expect([first.bodyUsed, second.bodyUsed]).toEqual([true, true])
})

describe('the fields of a hop', () => {
  test('are those of the call on the same origin', async () => {
    const { headers } = await hopOf(callTo('https://a.example/'), '/b')
    expect(Object.fromEntries(headers)).toEqual(fields)
  })

  test.each(['https://b.example/', 'https://a.example:8443/', 'http://a.example/'])(
    'are without those of the origin at %s',
    async (location) => {
      const { headers } = await hopOf(callTo('https://a.example/'), location)
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
    const hop = await hopOf(callTo('https://a.example/', before, before !== 'HEAD'), '/b', status)
    expect(hop.method).toBe(after)
    expect(hop.hasBody).toBe(after === before && before !== 'HEAD')
    expect(hop.headers.has('content-type')).toBe(after === before)
  })
})

describe('what cannot be followed is a TypeError', () => {
  test.each(['ftp://a.example/', 'https://user:pass@a.example/', 'https://[', 'data:,x'])(
    '%s',
    async (location) => {
      const following = followRedirects(redirect(location), callTo('https://a.example/'), never)
      await expect(following).rejects.toThrow(new TypeError('fetch failed'))
    },
  )

  test('a body that can be read once', async () => {
    const call = { ...callTo('https://a.example/', 'POST', true), replayable: false }
    await expect(followRedirects(redirect('/b', 307), call, never)).rejects.toThrow(TypeError)
  })

  test('the 21st redirect', async () => {
    const send = vi.fn<(hop: Hop) => Promise<Response>>(async () => redirect('/on'))
    await expect(followRedirects(redirect('/on'), callTo('https://a.example/'), send)).rejects.toThrow(
      TypeError,
    )
    expect(send).toHaveBeenCalledTimes(20)
  })
})

test('a location in UTF-8 is read as such', async () => {
  const asField = Buffer.from('/ö').toString('latin1')
  expect((await hopOf(callTo('https://a.example/'), asField)).url.pathname).toBe('/%C3%B6')
})
