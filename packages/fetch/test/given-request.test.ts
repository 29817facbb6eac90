import { openScriptedApi } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import { afterAll, beforeEach, expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

const api = await openScriptedApi()
const elsewhere = await openScriptedApi()
afterAll(() => Promise.all([api.close(), elsewhere.close()]))

let fetch: typeof globalThis.fetch

beforeEach(() => {
  fetch = createFetch(fakeTokens({ apis: [api.url] }))
})

class Wrapped extends Request {}
Object.defineProperty(Wrapped.prototype, 'url', { get: () => api.url })

const requests: Record<string, () => Request> = {
  'a subclass': () => new Wrapped(elsewhere.url),
  'a property of its own': () =>
    Object.defineProperty(new Request(elsewhere.url, { method: 'POST', body: 'text' }), 'url', {
      value: api.url,
    }),
  'an object with the tag of a Request': () =>
    ({
      [Symbol.toStringTag]: 'Request',
      url: api.url,
      headers: new Headers(),
      toString: () => elsewhere.url,
    }) as unknown as Request,
}

test.each(Object.entries(requests))(
  'a request that names an API by %s, and goes elsewhere, has no token',
  async (_, make) => {
    const before = elsewhere.requests.length
    await fetch(make())
    await fetch(make(), { headers: { 'x-own': '1' } })
    const sent = elsewhere.requests.slice(before)
    expect(sent.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
    expect(api.requests).toEqual([])
  },
)

test('a form whose call gets no token leaves no rejection behind', async () => {
  const unhandled: unknown[] = []
  const keep = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', keep)
  const form = new FormData()
  form.set('file', new File(['x'.repeat(200_000)], 'file.txt'))
  const tokens = fakeTokens({ apis: [api.url] })
  await tokens.close()
  const call = createFetch(tokens)(new Request(api.url, { method: 'POST', body: form }))
  await expect(call).rejects.toMatchObject({ name: 'TokenlaneError' })
  // Node reads a form from the start, so that it has read that of the call when it has read another one
  await new Response(form).arrayBuffer()
  await new Promise(setImmediate)
  process.off('unhandledRejection', keep)
  expect(unhandled).toEqual([])
})
