import { fakeTokens } from '@tokenlane/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

type Fetch = typeof globalThis.fetch

const runtimes = globalThis.fetch
const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
const api = 'https://api.example.com/records'
const outside = 'https://elsewhere.example/'
const sent: string[] = []
const saw: string[] = []

beforeEach(() => {
  sent.length = saw.length = 0
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    sent.push(`${request.url} ${request.headers.get('authorization')}`)
    return new Response()
  }
})
afterEach(() => void (globalThis.fetch = runtimes))

const urlOf = (input: Parameters<Fetch>[0]): string => new Request(input).url

test('what replaces the global fetch later sees the calls of a fetch that was made before', async () => {
  const fetch = createFetch(tokens)
  const before = globalThis.fetch
  globalThis.fetch = (input, init) => (saw.push(urlOf(input)), before(input, init))
  for (const input of [api, outside, new Request(api)]) await fetch(input)
  expect(saw).toEqual([api, outside, api])
  expect(sent).toEqual([`${api} Bearer test-token`, `${outside} null`, `${api} Bearer test-token`])
})

test('what replaces the global fetch, and is replaced again, no longer sees them', async () => {
  const fetch = createFetch(tokens)
  const before = globalThis.fetch
  globalThis.fetch = (input, init) => (saw.push(urlOf(input)), before(input, init))
  await fetch(api)
  globalThis.fetch = before
  await fetch(api)
  expect([saw.length, sent.length]).toEqual([1, 2])
})

const wrappers: Record<string, (fetch: Fetch) => Fetch> = {
  'hands on its arguments': (fetch) => (input, init) => (saw.push(urlOf(input)), fetch(input, init)),
  'makes a Request later': (fetch) => async (input, init) => {
    await new Promise((resolve) => setImmediate(resolve))
    saw.push(urlOf(input))
    return fetch(new Request(input, init))
  },
}

test.each(Object.entries(wrappers))(
  'put in the place of the global one and wrapped by what %s, each call is sent once',
  async (_, wrap) => {
    globalThis.fetch = createFetch(tokens)
    globalThis.fetch = wrap(globalThis.fetch)
    await globalThis.fetch(api)
    saw.length = 0
    await Promise.all([globalThis.fetch(api), globalThis.fetch(outside), globalThis.fetch(new Request(api))])
    expect(saw.toSorted()).toEqual([api, api, outside])
    expect(sent.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => `${api} Bearer test-token`),
      `${outside} null`,
    ])
  },
)

test.each(Object.entries(wrappers))(
  'two of them, each wrapped by what %s, lead to no circle',
  async (_, wrap) => {
    const other = fakeTokens({ apis: [outside] })
    for (const manager of [tokens, other]) globalThis.fetch = wrap(createFetch(manager))
    for (const url of [api, outside]) await globalThis.fetch(url)
    expect(sent).toEqual([`${api} Bearer test-token`, `${outside} Bearer test-token`])
  },
)

test('what replaces it may send calls of its own with the fetch that was made before', async () => {
  const fetch = createFetch(tokens)
  const before = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    if (urlOf(input) === outside) await fetch(api)
    return before(input, init)
  }
  await fetch(outside)
  expect(sent).toEqual([`${api} Bearer test-token`, `${outside} null`])
})
